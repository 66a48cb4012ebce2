// A visitor of std::variant from one function for each alternative.
#pragma once

namespace lanky {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace lanky
