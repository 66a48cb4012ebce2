// CSR loops for processors of the level x86-64-v3: AVX2, FMA, F16C.
#define LANKY_CSR_LOOP_ISA v3
#include "bench/rivals/csr_loop_isa.hpp"
