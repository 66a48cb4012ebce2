#!/bin/bash -eu
# Runs build.sh as OSS-Fuzz's image does, without the image, and every program that it makes on its seeds: check.sh [FOLDER].
cd "$(dirname "$(readlink -f "$0")")/../../.."
folder=$(readlink -m "${1:-build/oss-fuzz}")
rm -rf "$folder/out"
mkdir -p "$folder/out" "$folder/work"
# As base-builder sets them for the sanitizer "address", but for libc++: Debian's Clang has libstdc++.
export SRC=$PWD/.. OUT=$folder/out WORK=$folder/work CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer
export CFLAGS="-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
-fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link"
export CXXFLAGS=$CFLAGS
bash -eu tests/fuzz/oss-fuzz/build.sh
count=0
for program in "$OUT"/fuzz_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  rm -rf "$folder/seeds"
  mkdir -p "$folder/seeds"
  (cd "$folder/seeds" && unzip -q "$OUT/${name}_seed_corpus.zip")
  (cd / && "$program" -runs=0 "$folder/seeds" >"$folder/$name.log" 2>&1) || { cat "$folder/$name.log"; exit 1; }
  grep -q "$(ls "$folder/seeds" | wc -l) files found" "$folder/$name.log" || { cat "$folder/$name.log"; exit 1; }
  count=$((count + 1))
done
[ "$count" -ge 12 ] || { echo "check.sh: $count programs alone"; exit 1; }
echo "check.sh: $count programs in $OUT, each has run its seeds"
