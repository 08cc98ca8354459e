// ZeroPages: zeroed memory straight from the kernel, which costs nothing until it is touched.
//
// Thread safety: populate from any thread, also while others use the memory.
#pragma once

#include <atomic>
#include <cstddef>

namespace doorbuster {

class ZeroPages {
public:
    explicit ZeroPages(size_t bytes);  // aligned to a page; throws std::bad_alloc
    ~ZeroPages();
    ZeroPages(const ZeroPages&) = delete;
    ZeroPages& operator=(const ZeroPages&) = delete;

    void* data() const { return data_; }

    // Brings all of it into memory now, in large pages where the kernel has some: nobody then waits
    // for a page at first touch. What is there stays. Where the kernel cannot, nothing happens.
    void populate();

private:
    size_t bytes_;
    size_t mapped_bytes_;
    void* mapped_;
    void* data_;
    std::atomic<bool> is_populated_{false};
};

}  // namespace doorbuster
