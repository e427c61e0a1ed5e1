#!/usr/bin/env bash
# kcat (librdkafka as Debian ships it) against tidemark serve: for every codec,
# lines go in, come back equal, and are stored under that codec. Topics are
# created on the way.
#
#   net/interop/kcat.sh TIDEMARK [LINES]     the binary; lines for each codec, 100000
set -euo pipefail
tidemark=$1
lines=${2:-100000}
dir=$(mktemp -d)
pid=
finish() {
  [ -z "$pid" ] || kill -9 "$pid" 2> /dev/null || true
  rm -rf "$dir"
}
trap finish EXIT

"$tidemark" serve --brokers 3 --data "$dir/data" --listen 127.0.0.1:0 \
  --set default.replication.factor=3 --set min.insync.replicas=2 > "$dir/out" 2> "$dir/err" &
pid=$!
for _ in $(seq 100); do
  grep -q '^ready:' "$dir/out" && break
  kill -0 "$pid" 2> /dev/null || { cat "$dir/err" >&2; exit 1; }
  sleep 0.1
done
brokers=$(sed -n 's/^ready: .* at \([^ ]*\), data in .*/\1/p' "$dir/out")
[ -n "$brokers" ] || { echo "tidemark serve is not ready: $(cat "$dir/out" "$dir/err")" >&2; exit 1; }

# A line has 1 KiB: its number, then words.
awk -v n="$lines" 'BEGIN {
  for (i = 0; i < n; i++) {
    line = sprintf("%08d", i)
    while (length(line) < 1023) line = line " the tide leaves a line " (i * 7919 + length(line)) % 1000
    print substr(line, 1, 1023)
  }
}' > "$dir/in.txt"

quiet() { kcat -q -b "$brokers" -X topic.metadata.refresh.sparse=true "$@"; }

# idempotence, if this cluster has it
idempotent=true inflight=5
quiet -P -t probe -X enable.idempotence=true -X message.timeout.ms=10000 <<< probe 2> /dev/null || idempotent=false inflight=1

for codec in none gzip snappy lz4 zstd; do
  topic=kcat-$codec
  start=$(date +%s%N)
  quiet -P -t "$topic" -z "$codec" -X acks=all -X enable.idempotence=$idempotent \
    -X max.in.flight.requests.per.connection=$inflight -X linger.ms=5 < "$dir/in.txt"
  middle=$(date +%s%N)
  quiet -C -t "$topic" -o beginning -e -X check.crcs=true > "$dir/out.txt"
  end=$(date +%s%N)
  cmp "$dir/in.txt" "$dir/out.txt" || { echo "kcat $codec: what came back differs" >&2; exit 1; }
  # The attributes of the first stored batch, bits 0 to 2.
  for log in "$dir"/data/broker-*/"$topic"-0/00000000000000000000.log; do
    stored=$(od -An -tu1 -j22 -N1 "$log" | tr -d ' ')
    want=$(case $codec in none) echo 0 ;; gzip) echo 1 ;; snappy) echo 2 ;; lz4) echo 3 ;; zstd) echo 4 ;; esac)
    [ $((stored & 7)) = "$want" ] || { echo "kcat $codec: stored with codec $((stored & 7)), want $want: $log" >&2; exit 1; }
  done
  echo "kcat $codec: $lines lines written in $(((middle - start) / 1000000)) ms, read in $(((end - middle) / 1000000)) ms, idempotence $idempotent"
done

kill -TERM "$pid"
status=0
wait "$pid" || status=$?
pid=
[ "$status" = 0 ] || { echo "tidemark serve ended with status $status after SIGTERM: $(cat "$dir/err")" >&2; exit 1; }
