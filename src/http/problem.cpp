#include "http/problem.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string_view.hpp>

#include <array>

#include "base/check.hpp"

namespace doorbuster {

namespace {

struct Description {
    Code code;
    int status;
    std::string_view name;
    std::array<std::string_view, languages> titles;  // en, zh-Hans, zh-Hant
};

constexpr std::array<Description, codes> descriptions{{
    {Code::malformed, 400, "malformed", {"The request is malformed", "请求格式有误", "請求格式有誤"}},
    {Code::unauthenticated, 401, "unauthenticated", {"Please sign in", "请先登录", "請先登入"}},
    {Code::token_required,
     403,
     "token_required",
     {"Please complete the human check first", "请先完成人机验证", "請先完成真人驗證"}},
    {Code::token_invalid,
     403,
     "token_invalid",
     {"The purchase token is not valid", "购买凭证无效", "購買憑證無效"}},
    {Code::check_failed,
     403,
     "check_failed",
     {"The check was not passed; please take a new one", "验证未通过，请重新获取", "驗證未通過，請重新取得"}},
    {Code::blocked,
     403,
     "blocked",
     {"Not possible from here at the moment", "当前暂时无法参与", "目前暫時無法參與"}},
    {Code::cross_site,
     403,
     "cross_site",
     {"The request came from another site", "请求来自其他网站", "請求來自其他網站"}},
    {Code::not_found, 404, "not_found", {"Not found", "找不到该内容", "找不到該內容"}},
    {Code::method_not_allowed,
     405,
     "method_not_allowed",
     {"The method is not allowed here", "此处不支持该请求方法", "此處不支援該請求方法"}},
    {Code::timeout, 408, "timeout", {"The request took too long to arrive", "请求接收超时", "請求接收逾時"}},
    {Code::not_open, 409, "not_open", {"The sale has not opened yet", "活动尚未开始", "活動尚未開始"}},
    {Code::ended, 409, "ended", {"The sale has ended", "活动已结束", "活動已結束"}},
    {Code::paused, 409, "paused", {"The sale is paused", "活动已暂停", "活動已暫停"}},
    {Code::sold_out, 409, "sold_out", {"Sold out", "已售罄", "已售完"}},
    {Code::sold_out_for_now,
     409,
     "sold_out_for_now",
     {"Sold out for now; units may come back", "暂时售罄，可能会有库存释出", "暫時售完，可能會有庫存釋出"}},
    {Code::limit_reached,
     409,
     "limit_reached",
     {"You have reached the limit per buyer", "已达每人限购数量", "已達每人限購數量"}},
    {Code::wrong_state,
     409,
     "wrong_state",
     {"Not possible in the current state", "当前状态不允许此操作", "目前狀態不允許此操作"}},
    {Code::exists, 409, "exists", {"It exists already", "该内容已存在", "該內容已存在"}},
    {Code::version_changed,
     412,
     "version_changed",
     {"It was changed in the meantime", "内容已被他人修改", "內容已被他人修改"}},
    {Code::body_too_large, 413, "body_too_large", {"The body is too large", "请求内容过大", "請求內容過大"}},
    {Code::unsupported_media,
     415,
     "unsupported_media",
     {"The body must be application/json", "请求内容须为 application/json", "請求內容須為 application/json"}},
    {Code::invalid, 422, "invalid", {"The request is not valid", "请求内容无效", "請求內容無效"}},
    {Code::version_required,
     428,
     "version_required",
     {"If-Match with the version is required", "须以 If-Match 提供版本", "須以 If-Match 提供版本"}},
    {Code::rate_limited,
     429,
     "rate_limited",
     {"Too many requests", "请求过于频繁，请稍后再试", "請求過於頻繁，請稍後再試"}},
    {Code::headers_too_large,
     431,
     "headers_too_large",
     {"The header is too large", "请求头过大", "請求標頭過大"}},
    {Code::internal,
     500,
     "internal",
     {"Something went wrong on our side", "服务器内部错误", "伺服器內部錯誤"}},
    {Code::overloaded,
     503,
     "overloaded",
     {"Too busy right now, please try again", "服务繁忙，请稍后重试", "服務繁忙，請稍後再試"}},
    {Code::crowded,
     503,
     "crowded",
     {"It is crowded, please wait a moment", "排队人数过多，请稍候", "排隊人數過多，請稍候"}},
    {Code::rebuilding,
     503,
     "rebuilding",
     {"The sale is being restored, please try again", "活动正在恢复，请稍后重试",
      "活動正在恢復，請稍後再試"}},
    {Code::unknown,
     503,
     "unknown",
     {"The outcome is not known yet; ask again with the same key", "结果尚未确定，请使用相同的键重试",
      "結果尚未確定，請使用相同的鍵重試"}},
    {Code::unavailable,
     503,
     "unavailable",
     {"Closed for the moment, please come back later", "暂时关闭，请稍后再来", "暫時關閉，請稍後再來"}},
}};

constexpr bool in_order_of_codes() {
    for (size_t i = 0; i < codes; ++i) {
        if (static_cast<size_t>(descriptions[i].code) != i) return false;
    }
    return true;
}
static_assert(in_order_of_codes());

const Description& describe(Code code) {
    CHECK(static_cast<size_t>(code) < codes);
    return descriptions[static_cast<size_t>(code)];
}

std::string quoted(std::string_view text) {
    return boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

}  // namespace

int status_of(Code code) {
    return describe(code).status;
}
std::string_view name_of(Code code) {
    return describe(code).name;
}
std::string_view title_of(Code code, Language language) {
    return describe(code).titles[static_cast<size_t>(language)];
}
bool carries_retry_after(Code code) {
    return status_of(code) == 429 || status_of(code) == 503;
}

std::string problem_body(const Problem& problem, Language language) {
    const Description& description = describe(problem.code);
    std::string body = R"({"type":"urn:doorbuster:problem:)";
    body += description.name;
    body += R"(","title":)" + quoted(title_of(problem.code, language));
    body += R"(,"status":)" + std::to_string(description.status);
    body += R"(,"code":")";
    body += description.name;
    body += '"';
    if (!problem.detail.empty()) body += R"(,"detail":)" + quoted(problem.detail);
    if (!problem.faults.empty()) {
        body += R"(,"errors":[)";
        for (const Fault& fault : problem.faults) {
            if (&fault != &problem.faults.front()) body += ',';
            body += R"({"pointer":)" + quoted(fault.pointer) + R"(,"detail":)" + quoted(fault.detail) + '}';
        }
        body += ']';
    }
    if (!problem.purchase.empty()) body += R"(,"purchase":)" + quoted(problem.purchase);
    body += '}';
    return body;
}

}  // namespace doorbuster
