// A refusal of the server (RFC 9457), told to a person.
#pragma once

#include <string>
#include <string_view>

namespace doorbuster {

// "The sale is not valid (422 invalid): mend these fields\n  /items/0/price_minor: must be …"
std::string problem_text(unsigned status, std::string_view body);

}  // namespace doorbuster
