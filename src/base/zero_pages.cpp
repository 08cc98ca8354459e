#include "base/zero_pages.hpp"

#include <sys/mman.h>

#include <memory>
#include <new>

namespace doorbuster {

namespace {

constexpr size_t large_page_bytes = 2 << 20;

}  // namespace

ZeroPages::ZeroPages(size_t bytes) : bytes_(bytes) {
    const bool is_large = bytes >= large_page_bytes;
    size_t room = mapped_bytes_ = bytes + (is_large ? large_page_bytes : 0);
    mapped_ = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    data_ = mapped_;
    if (is_large) std::align(large_page_bytes, bytes, data_, room);
}

ZeroPages::~ZeroPages() {
    ::munmap(mapped_, mapped_bytes_);
}

void ZeroPages::populate() {
    if (is_populated_.exchange(true)) return;
    ::madvise(data_, bytes_, MADV_HUGEPAGE);
    ::madvise(data_, bytes_, MADV_POPULATE_WRITE);
}

}  // namespace doorbuster
