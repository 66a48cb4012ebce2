// Lines of results as `lanky batch --json` writes them, for tests of what reads them.
#pragma once

#include <sstream>
#include <string>

namespace lanky::testing {

/// Of the H200, if no other device is named.
inline std::string env_line(const std::string& gpu = "NVIDIA H200") {
  return R"({"kind":"env","schema":1,"gpu":")" + gpu + R"(","read_floor_tbs":4.6,"argv":"lanky"})" +
         "\n";
}

/// A right line of a sparse product, `more` behind its fields: ,"status":"wrong" takes the place of
/// what stands before.
inline std::string spmv_line(const std::string& name, const std::string& contestant,
                             const std::string& variant, double graph_us,
                             const std::string& more = "", const std::string& dtype = "f64") {
  std::ostringstream line;
  line << R"({"kind":"spmv","case":")" << name << R"(","class":"real","m":100,"n":100,"nnz":1000,)"
       << R"("dtype":")" << dtype << R"(","op":"n","contestant":")" << contestant
       << R"(","variant":")" << variant << R"(","status":"ok","graph_us":)" << graph_us
       << R"(,"warm_us":)" << graph_us + 2 << R"(,"floor_us":2,"floor_batch_us":4,"bytes":12000,)"
       << R"("flops":2000,"setup_us":100)" << more << "}\n";
  return line.str();
}

/// The same of several columns.
inline std::string spmm_line(const std::string& name, const std::string& contestant,
                             const std::string& variant, double graph_us, int columns,
                             const std::string& layout = "row", const std::string& more = "") {
  return spmv_line(name, contestant, variant, graph_us,
                   R"(,"kind":"spmm","columns":)" + std::to_string(columns) + R"(,"layout":")" +
                       layout + "\"" + more);
}

/// The same of sampled products.
inline std::string sddmm_line(const std::string& name, const std::string& contestant,
                              const std::string& variant, double graph_us, int columns,
                              const std::string& layout = "row") {
  return spmm_line(name, contestant, variant, graph_us, columns, layout, R"(,"kind":"sddmm")");
}

inline std::string gemm_line(const std::string& name, const std::string& contestant,
                             const std::string& variant, double warm_us,
                             const std::string& more = "") {
  std::ostringstream line;
  line << R"({"kind":"gemm","case":")" << name << R"(","family":"gram","m":16,"n":16,"k":1000,)"
       << R"("op_a":"t","op_b":"n","layout":"col","ld":"tight","alpha":1,"beta":0,"dtype":"f32",)"
       << R"("out":"f32","contestant":")" << contestant << R"(","variant":")" << variant
       << R"(","status":"ok","warm_us":)" << warm_us
       << R"(,"graph_us":1,"floor_us":1,"floor_batch_us":4)" << more << "}\n";
  return line.str();
}

}  // namespace lanky::testing
