// The description of both listeners, as it is served at /openapi.json.
#pragma once

#include <string_view>

namespace doorbuster {

std::string_view openapi_document();  // openapi.json, embedded by the build

}  // namespace doorbuster
