#include "store_sqlite/data_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace doorbuster {

StoreResult<DataFolder> DataFolder::hold(const std::string& path) {
    const std::string operation = "opening the data folder " + path;
    auto failed = [&](int number) {
        const StoreErrc code = number == EROFS || number == EACCES || number == EPERM ? StoreErrc::read_only
                               : number == ENOSPC || number == EDQUOT                 ? StoreErrc::full
                                                                      : StoreErrc::unavailable;
        return StoreError{code, operation, std::strerror(number)};
    };

    std::error_code made;
    std::filesystem::create_directories(path, made);
    if (made) return failed(made.value());
    const int lock = ::open((path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return failed(errno);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        char pid[32] = {};
        const auto size = ::pread(lock, pid, sizeof pid - 1, 0);
        ::close(lock);
        return StoreError{StoreErrc::in_use, operation,
                          "another doorbuster has it (process " +
                              std::string(pid, size > 0 ? size_t(size) : 0) +
                              "); stop that one or choose another store.path"};
    }
    const std::string pid = std::to_string(::getpid());
    if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, pid.data(), pid.size(), 0) != ssize_t(pid.size())) {
        const int number = errno;
        ::close(lock);
        return failed(number);
    }
    return DataFolder(path, lock);
}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataFolder::~DataFolder() {
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace doorbuster
