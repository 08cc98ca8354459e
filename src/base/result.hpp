// Result: a value, or why the world did not allow it.
#pragma once

#include <boost/system/result.hpp>

namespace doorbuster {

template <class T, class E>
using Result = boost::system::result<T, E>;

}  // namespace doorbuster
