// Division of small indices by a divisor that many of them share.
#pragma once

namespace lanky::dense::cuda {

/// index / divisor and the remainder for index < 2^16, by one multiplication.
class SmallDivision {
 public:
  __device__ explicit SmallDivision(unsigned divisor)
      : divisor_(divisor), inverse_(0xffffffffU / divisor + 1) {}
  __device__ int quotient(int index) const {
    return divisor_ == 1 ? index
                         : static_cast<int>(__umulhi(static_cast<unsigned>(index), inverse_));
  }
  __device__ int remainder(int index) const {
    return index - quotient(index) * static_cast<int>(divisor_);
  }

 private:
  unsigned divisor_;
  unsigned inverse_;
};

}  // namespace lanky::dense::cuda
