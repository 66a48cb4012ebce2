// The machine of a device: rows of the table, siblings of their chips, and GPUs without a row.
#include <gtest/gtest.h>

#include <lanky/lanky.hpp>
#include <set>
#include <string_view>

#include "core/code_fault.hpp"
#include "core/machine.hpp"
#include "support/expect_error.hpp"

namespace lanky {
namespace {

/// What an H200 tells of itself.
DeviceProperties h200() {
  return {.name = "NVIDIA H200",
          .multiprocessors = 132,
          .compute_capability = 90,
          .l2_bytes = 60 << 20,
          .shared_bytes_per_block = 227 << 10,
          .shared_bytes_per_multiprocessor = 228 << 10,
          .clock = 1.98e9,
          .memory_bandwidth = 4.917e12};
}

TEST(Machines, OfTheTableAreWholeAndDiffer) {
  std::set<std::string_view> chips;
  for (const Machine& machine : known_machines()) {
    SCOPED_TRACE(machine.chip);
    chips.insert(machine.chip);
    EXPECT_GE(machine.capability, 80);
    EXPECT_GT(machine.multiprocessors, 100);
    EXPECT_LT(machine.shared_bytes_per_block, machine.shared_bytes_per_multiprocessor);
    EXPECT_LT(machine.shared_bytes_per_multiprocessor, machine.first_cache_bytes);
    EXPECT_LT(machine.read_bandwidth, machine.bandwidth);
    EXPECT_GT(machine.read_bandwidth, 0.9 * machine.bandwidth);
    EXPECT_LT(machine.peak_f64, machine.peak_f32);
    EXPECT_LE(machine.peak_f32, machine.tensor_tf32);
    EXPECT_LT(machine.tensor_tf32, machine.tensor_half);
    EXPECT_EQ(machine.measured, machine.chip == "H200" || machine.chip == "H100");
    EXPECT_EQ(known_machine(machine.chip).chip, machine.chip);
  }
  EXPECT_EQ(chips.size(), known_machines().size());
  expect_error([] { known_machine("H800"); }, ErrorCode::invalid_argument,
               {"unknown chip \"H800\"", "H200, H100"});
}

TEST(Machines, OfADeviceHaveTheRowOfItsChip) {
  const Machine machine = machine_of(h200(), code_for(90));
  const Machine& row = known_machine("H200");
  EXPECT_EQ(machine.chip, "H200");
  EXPECT_TRUE(machine.measured);
  EXPECT_EQ(machine.bandwidth, row.bandwidth);  // the data sheet's, not that of the bus
  EXPECT_EQ(machine.read_bandwidth, row.read_bandwidth);
  EXPECT_EQ(machine.shared_bytes_per_block, row.shared_bytes_per_block);
  EXPECT_TRUE(machine.has_warp_groups());

  DeviceProperties other = h200();
  for (const auto& [name, chip] : {std::pair{"NVIDIA H100 80GB HBM3", "H100"},
                                   {"NVIDIA A100-SXM4-80GB", "A100"},
                                   {"NVIDIA GeForce RTX 4090", "RTX 4090"},
                                   {"NVIDIA L40S", "L40S"},
                                   {"NVIDIA L40", ""},
                                   {"NVIDIA GH200 480GB", ""},
                                   {"NVIDIA RTX 40900", ""}}) {
    other.name = name;
    EXPECT_EQ(machine_of(other, code_for(90)).chip, chip) << name;
  }
}

// An H100 on PCIe: fewer multiprocessors, and slower memory.
TEST(Machines, OfASiblingAreScaled) {
  DeviceProperties pcie = h200();
  pcie.name = "NVIDIA H100 PCIe";
  pcie.multiprocessors = 114;
  pcie.memory_bandwidth = 2.04e12;
  const Machine machine = machine_of(pcie, code_for(90));
  const Machine& row = known_machine("H100");
  EXPECT_FALSE(machine.measured);
  EXPECT_EQ(machine.multiprocessors, 114);
  EXPECT_EQ(machine.bandwidth, 2.04e12);
  EXPECT_DOUBLE_EQ(machine.read_bandwidth / machine.bandwidth, row.read_bandwidth / row.bandwidth);
  EXPECT_DOUBLE_EQ(machine.peak_f32 / row.peak_f32, 114.0 / 132);
}

// The estimate of a chip without a row is near the data sheet of the one that it is.
TEST(Machines, WithoutARowAreEstimated) {
  for (const std::string_view chip : {"H200", "A100", "RTX 4090", "RTX 5090"}) {
    SCOPED_TRACE(chip);
    const Machine& row = known_machine(chip);
    const Machine machine =
        machine_of({.name = "unheard of",
                    .multiprocessors = row.multiprocessors,
                    .compute_capability = row.capability,
                    .shared_bytes_per_block = static_cast<std::size_t>(row.shared_bytes_per_block),
                    .shared_bytes_per_multiprocessor =
                        static_cast<std::size_t>(row.shared_bytes_per_multiprocessor),
                    .clock = row.clock,
                    .memory_bandwidth = row.bandwidth},
                   row.code);
    EXPECT_EQ(machine.chip, "");
    EXPECT_FALSE(machine.measured);
    EXPECT_EQ(machine.bandwidth, row.bandwidth);
    EXPECT_NEAR(machine.read_bandwidth / row.read_bandwidth, 1, 0.03);
    EXPECT_NEAR(machine.peak_f64 / row.peak_f64, 1, 0.05);
    EXPECT_NEAR(machine.peak_f32 / row.peak_f32, 1, 0.05);
    EXPECT_NEAR(machine.tensor_tf32 / row.tensor_tf32, 1, 0.15);
    EXPECT_NEAR(
        static_cast<double>(machine.first_cache_bytes) / static_cast<double>(row.first_cache_bytes),
        1, 0.01);
  }
}

// What a GPU can do and what the code for it can do are two things: a driver translates PTX.
TEST(Machines, ArePickedKernelsForByTheirCode) {
  const Machine own = machine_of(h200(), code_for(90));
  EXPECT_TRUE(own.has_bulk_copies() && own.has_warp_groups() && own.waits_for_kernels());
  const Machine of_ptx90 = machine_of(h200(), {.capability = 90});
  EXPECT_TRUE(of_ptx90.has_bulk_copies());
  EXPECT_FALSE(of_ptx90.has_warp_groups());
  const Machine of_ptx80 = machine_of(h200(), code_for(80));
  EXPECT_EQ(of_ptx80.capability, 90);
  EXPECT_EQ(of_ptx80.read_bandwidth, own.read_bandwidth);
  EXPECT_FALSE(of_ptx80.has_bulk_copies() || of_ptx80.has_warp_groups());
  EXPECT_FALSE(of_ptx80.waits_for_kernels());
  for (const Machine& machine : known_machines()) {
    EXPECT_EQ(machine.code, code_for(machine.capability)) << machine.chip;
    EXPECT_EQ(machine.shared_bytes_per_block, shared_bytes_for(machine.capability)) << machine.chip;
  }
}

// One text for each way in which a GPU that is there is of no use, with what to do.
TEST(CodeFaults, SayWhatToDo) {
  DeviceProperties gpu = h200();
  const auto text = [&](CodeFault fault) {
    return describe_fault(fault, "cuda:0", gpu, "sm_80, PTX for compute_120", 13000, 12040);
  };
  EXPECT_EQ(text(CodeFault::no_code),
            "this lanky has code for sm_80, PTX for compute_120; cuda:0, NVIDIA H200, is sm_90: "
            "build lanky with -DCMAKE_CUDA_ARCHITECTURES=90a-real, or use the cpu device");
  EXPECT_NE(
      text(CodeFault::old_driver).find("for CUDA 12.4, cannot translate the PTX of CUDA 13.0"),
      std::string::npos);
  EXPECT_NE(text(CodeFault::no_translator).find("CUDA_DISABLE_PTX_JIT"), std::string::npos);
  gpu.compute_capability = 75;
  gpu.name = "Tesla T4";
  for (const CodeFault fault : {CodeFault::no_code, CodeFault::old_driver})
    EXPECT_NE(text(fault).find("Tesla T4, is sm_75: lanky needs sm_80 or later"),
              std::string::npos);
}

TEST(Machines, OfTheCpuKnowItsThreadsAndVectors) {
  const Machine& machine = machine_of(Device::cpu());
  EXPECT_EQ(machine.multiprocessors, Device::cpu().properties().multiprocessors);
  EXPECT_EQ(machine.capability, 0);
  EXPECT_GE(machine.vector_bits, 128);
  EXPECT_GT(machine.bandwidth, 0);
  EXPECT_FALSE(machine.has_bulk_copies());
}

TEST(Machines, OfEveryDeviceAreReadOnce) {
  for (const Device device : Device::all()) {
    const Machine& machine = machine_of(device);
    EXPECT_EQ(&machine, &machine_of(device));
    EXPECT_EQ(machine.multiprocessors, device.properties().multiprocessors);
    EXPECT_GT(machine.bandwidth, 0);
  }
}

}  // namespace
}  // namespace lanky
