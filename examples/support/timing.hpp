// Times of work on a stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <lanky/stream.hpp>
#include <vector>

namespace lanky::examples {

/// Milliseconds that each of `works` takes on the stream: medians of `rounds` rounds after one to
/// warm up. A round runs each of them once, so that a drift of the machine meets all alike.
inline std::vector<double> median_ms(const Stream& stream, int rounds,
                                     const std::vector<std::function<void()>>& works) {
  std::vector<std::vector<double>> samples(works.size());
  Event start(stream.device());
  Event end(stream.device());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      start.record(stream);
      works[w]();
      end.record(stream);
      end.synchronize();
      if (round >= 0) samples[w].push_back(Event::elapsed_ms(start, end));
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& times : samples) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    medians.push_back(*middle);
  }
  return medians;
}

}  // namespace lanky::examples
