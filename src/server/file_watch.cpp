#include "server/file_watch.hpp"

#include <sys/stat.h>

#include "config/text_file.hpp"

namespace doorbuster {

std::optional<FileWatch::Seen> FileWatch::stat() const {
    struct stat file {};
    if (::stat(path_.c_str(), &file) != 0) return std::nullopt;
    return Seen{file.st_mtim.tv_sec, file.st_mtim.tv_nsec, file.st_ctim.tv_sec, file.st_ctim.tv_nsec,
                file.st_size,        file.st_dev,          file.st_ino};
}

Result<std::string, std::string> FileWatch::read() {
    if (path_.empty()) return {boost::system::in_place_value, ""};
    seen_ = stat();  // before it is read: what changes in between is seen at the next look
    auto text = read_text_file(path_, bytes_max);
    failure_ = text ? std::string() : text.error();
    return text;
}

std::optional<Result<std::string, std::string>> FileWatch::look() {
    const std::string told = failure_;
    if (path_.empty() || (told.empty() && stat() == seen_)) return std::nullopt;
    auto text = read();
    if (!text && failure_ == told) return std::nullopt;
    return text;
}

}  // namespace doorbuster
