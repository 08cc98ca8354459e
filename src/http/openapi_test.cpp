#include "http/openapi.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "http/json.hpp"
#include "http/problem.hpp"

namespace doorbuster {
namespace {

namespace json = boost::json;

void expect_closed(const json::value& schema, const std::string& at) {
    if (schema.is_array()) {
        for (const json::value& part : schema.get_array()) expect_closed(part, at);
    }
    if (!schema.is_object()) return;
    const json::object& object = schema.get_object();
    const json::value* type = object.if_contains("type");
    if (type != nullptr && *type == "object") {
        const json::value* more = object.if_contains("additionalProperties");
        EXPECT_TRUE(more != nullptr && *more == false) << at;
        EXPECT_TRUE(object.contains("required")) << at;
    }
    for (const auto& field : object) expect_closed(field.value(), at + "/" + std::string(field.key()));
}

TEST(OpenApi, EverySchemaIsClosed) {
    const auto document = parse_json(openapi_document());
    ASSERT_TRUE(document);
    expect_closed(document->at("components").at("schemas"), "");
}

TEST(OpenApi, KnowsEveryErrorCode) {
    const auto document = parse_json(openapi_document());
    ASSERT_TRUE(document);
    const json::array& listed = document->at("components")
                                    .at("schemas")
                                    .at("Problem")
                                    .at("properties")
                                    .at("code")
                                    .at("enum")
                                    .as_array();
    ASSERT_EQ(listed.size(), codes);
    for (size_t i = 0; i < codes; ++i) {
        EXPECT_EQ(std::string_view(listed[i].as_string()), name_of(static_cast<Code>(i)));
    }
}

}  // namespace
}  // namespace doorbuster
