#include "collection/md5.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <lanky/error.hpp>
#include <memory>
#include <vector>

namespace lanky::collection {

namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

void check(int success) {
  if (success != 1) throw Error(ErrorCode::unsupported, "OpenSSL computes no MD5 here");
}

}  // namespace

std::string md5_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  check(EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr));
  std::vector<char> block(1 << 20);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    check(EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(file.gcount())));
  }
  if (!file.eof()) throw Error(ErrorCode::io, "cannot read " + path);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  check(EVP_DigestFinal_ex(context.get(), digest.data(), &length));
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

}  // namespace lanky::collection
