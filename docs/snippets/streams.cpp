// Streams, threads and workspaces, for docs/guide/graphs_and_streams.md.
#include "expect.hpp"

#include <cstddef>
#include <lanky/lanky.hpp>
#include <thread>
#include <vector>

int main() {
  const lanky::Device device = lanky::Device::best();
  const auto A = lanky::io::generate<double>("mixed:3000:400,values=int");
  // begin two_streams
  const lanky::Stream first(device);
  const lanky::Stream second(device);
  const lanky::SparsePlan<double> plan(first, A.view());  // its own workspace is first's

  const auto x = lanky::Buffer<double>::from(first, std::vector<double>(3000, 1.0));
  lanky::Buffer<double> y(first, plan.rows());
  lanky::Buffer<double> z(second, plan.rows());

  // Each stream beside the constructor's lends memory of its own, so that runs may overlap.
  lanky::Buffer<std::byte> workspace(second, plan.workspace_bytes());
  plan.run(first, x, y);
  plan.run(second, 1.0, x, 0.0, z, workspace);
  // end two_streams
  expect(y.to_host() == z.to_host());

  // begin events
  // The second stream's next product reads y, so it waits for the first stream.
  lanky::Event done(device);
  plan.run(first, x, y);
  done.record(first);
  second.wait(done);
  plan.run(second, 1.0, y, 0.0, z, workspace);
  second.synchronize();
  // end events

  lanky::Buffer<double> other(first, plan.rows());
  // begin threads
  // Threads may share a plan. Runs on its own stream take their turns.
  std::thread thread([&] { plan.run(first, x, other); });
  plan.run(first, x, y);
  thread.join();
  // end threads
  expect(other.to_host() == y.to_host());
}
