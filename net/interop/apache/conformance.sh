#!/usr/bin/env bash
# tidemark's files before Apache Kafka itself, and Kafka's before tidemark: see doc.go.
# Needs a JDK from 17 on and Maven, which fetches Kafka's jars once, into
# ${XDG_CACHE_HOME:-~/.cache}/tidemark; everything runs on 127.0.0.1.
#
#   net/interop/apache/conformance.sh [VERSION]     another release than pom.xml's
set -euo pipefail
cd "$(dirname "$0")"
version=${1:-$(sed -n 's:.*<kafka.version>\(.*\)</kafka.version>.*:\1:p' pom.xml)}

lacking() { echo "conformance with Apache Kafka: $*" >&2; exit 1; }
command -v java > /dev/null || lacking "there is no java here: install a JDK, 17 or later"
command -v mvn > /dev/null || lacking "there is no mvn here: install Maven, which fetches Kafka's jars"
java=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
[ "${java:-0}" -ge 17 ] || lacking "java is of version ${java:-unknown}, Kafka needs 17 or later"

jars=${XDG_CACHE_HOME:-$HOME/.cache}/tidemark/kafka-$version
if [ ! -e "$jars/.complete" ]; then
  mkdir -p "$jars"
  timeout 900 mvn -q -B -Dkafka.version="$version" -DincludeScope=runtime -DoutputDirectory="$jars" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies ||
    lacking "Maven did not get Kafka $version: see its words above"
  touch "$jars/.complete"
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
(cd ../../.. && go build -o "$out/tidemark" ./cmd/tidemark)
go vet .
echo "conformance with Apache Kafka $version"
TIDEMARK_KAFKA_JARS=$jars TIDEMARK_BINARY=$out/tidemark go test -count=1 -timeout 30m -v . | grep -v '^=== '
