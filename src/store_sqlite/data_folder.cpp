#include "store_sqlite/data_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace doorbuster {

namespace {

// Only its owner may look in: it holds the buyers' names. Each new folder's entry is synced
// in its parent, so that a power cut does not take the folder with all that is in it.
// Returns 0, or the error's number.
int make_folders(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return 0;
    const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
    if (parent != path) {
        if (const int number = make_folders(parent); number != 0) return number;
    }
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno;
    const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    const int synced = ::fsync(folder) == 0 ? 0 : errno;
    ::close(folder);
    return synced;
}

}  // namespace

StoreResult<DataFolder> DataFolder::hold(const std::string& path) {
    const std::string operation = "opening the data folder " + path;
    auto failed = [&](int number) {
        const StoreErrc code = number == EROFS || number == EACCES || number == EPERM ? StoreErrc::read_only
                               : number == ENOSPC || number == EDQUOT                 ? StoreErrc::full
                                                                      : StoreErrc::unavailable;
        return StoreError{code, operation, std::strerror(number)};
    };

    if (const int number = make_folders(path); number != 0) return failed(number);
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
