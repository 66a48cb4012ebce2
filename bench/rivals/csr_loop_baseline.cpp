// CSR loops for every processor.
#define LANKY_CSR_LOOP_ISA baseline
#include "bench/rivals/csr_loop_isa.hpp"
