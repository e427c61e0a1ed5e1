package osdisk

const preadv2 = 327 // system call
