package osdisk

const preadv2 = 286 // system call
