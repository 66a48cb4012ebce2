// The way from a launch to kernels: each family's .cu files define these for their types.
#pragma once

#include <lanky/stream.hpp>

#include "dense/backend.hpp"
#include "dense/cuda/launch.hpp"

namespace lanky::dense::cuda {

/// Loads the kernels of a launch, so that run() need not.
template <class T, class TOut>
void prepare(const Stream& stream, const Problem& problem, const TiledLaunch& launch);
template <class T, class TOut>
void prepare(const Stream& stream, const Problem& problem, const PanelLaunch& launch);
template <class T, class TOut>
void prepare(const Stream& stream, const Problem& problem, const UpdateLaunch& launch);
template <class T, class TOut>
void prepare(const Stream& stream, const Problem& problem, const GramLaunch& launch);

/// Starts the kernels on the stream and returns.
template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const TiledLaunch& launch,
         const Operands<T, TOut>& operands);
template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const PanelLaunch& launch,
         const Operands<T, TOut>& operands);
template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const UpdateLaunch& launch,
         const Operands<T, TOut>& operands);
template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const GramLaunch& launch,
         const Operands<T, TOut>& operands);

#define LANKY_INSTANTIATE_LAUNCH(Launch, ...)                                       \
  template void prepare<__VA_ARGS__>(const Stream&, const Problem&, const Launch&); \
  template void run<__VA_ARGS__>(const Stream&, const Problem&, const Launch&,      \
                                 const Operands<__VA_ARGS__>&);

}  // namespace lanky::dense::cuda
