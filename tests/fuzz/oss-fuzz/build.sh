#!/bin/bash -eu
# Builds the fuzzers as OSS-Fuzz wants them: programs, seeds, dictionaries and options in $OUT. The compiler and its flags come
# from CC, CXX, CFLAGS and CXXFLAGS, the engine from LIB_FUZZING_ENGINE. check.sh runs this without OSS-Fuzz.
build=${WORK:-/tmp}/lanky
# OSS-Fuzz's Clang comes without OpenMP: the distribution's runtime is linked, and goes along.
runtime=$(find /usr/lib -name 'libomp.so.5' -o -name 'libomp.so' | sort | head -n 1)
headers=$(dirname "$(find /usr/lib -path '*clang*' -name omp.h | sort | head -n 1)")
mkdir -p "$build/headers" "$OUT/lib"
cp "$headers/omp.h" "$build/headers/"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DLANKY_FUZZ=ON -DLANKY_CUDA=OFF -DLANKY_TESTS=OFF \
  -DLANKY_EXAMPLES=OFF -DLANKY_SHARED=OFF "-DLANKY_FUZZ_ENGINE=$LIB_FUZZING_ENGINE" \
  "-DOpenMP_CXX_FLAGS=-fopenmp=libomp -I$build/headers" -DOpenMP_CXX_LIB_NAMES=omp "-DOpenMP_omp_LIBRARY=$runtime"
cmake --build "$build" --target fuzzers

cp -L "$runtime" "$OUT/lib/libomp.so.5"
for program in "$build"/bin/fuzz_*; do
  name=$(basename "$program")
  target=${name#fuzz_}
  # libmatio is opened at run time, and is not on the machines that run this.
  [ "$target" != mat ] || continue
  cp -L "$program" "$OUT/$name"
  cp -f "tests/fuzz/$target.dict" "$OUT/$name.dict" 2>/dev/null || true
  seeds=$build/seeds/$target
  mkdir -p "$seeds"
  cp "tests/data/fuzz/$target"/* "$seeds"
  tar xJf "tests/data/fuzz/$target.tar.xz" -C "$seeds"
  (cd "$seeds" && zip -qr "$OUT/${name}_seed_corpus.zip" .)
  printf '[libfuzzer]\ntimeout = 25\nrss_limit_mb = 2560\n' >"$OUT/$name.options"
done
