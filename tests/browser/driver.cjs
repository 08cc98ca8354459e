// Drives one Chromium for as long as it is spoken to: a line of JSON in, a line of JSON out.
//   in   {"id":7,"do":"open","with":{…}}      out  {"id":7,"is":…}  or  {"id":7,"error":"…"}
// The commands are the methods of `commands` below. What a page asked for, logged and was refused is kept
// until it is fetched with `seen`. playwright-core is found through NODE_PATH.
const readline = require("readline");
const { chromium } = require("playwright-core");

const WAIT_MS_MAX = 60000;  // a machine may be busy with other things
const pages = new Map();  // by number
let browser, axe, last = 0;

const delivered = (request) => ({
    method: request.method(), url: request.url(), headers: request.headers(), body: request.postData(),
    type: request.resourceType(), status: null, failed: null,
});

// Everything that a page does and that Chromium has to say about it. Chromium calls an answer of 4xx or 5xx an
// error and logs it with the source "network"; scripts have other sources, so the two cannot be mixed up.
async function watch(page) {
    const seen = { requests: [], log: [], violations: [], answers: new Map() };
    page.on("request", (request) => {
        const one = delivered(request);
        seen.answers.set(request, one);
        seen.requests.push(one);
    });
    page.on("response", (response) => {
        const one = seen.answers.get(response.request());
        if (one) one.status = response.status();
    });
    page.on("requestfailed", (request) => {
        const one = seen.answers.get(request);
        if (one) one.failed = request.failure().errorText;
    });
    page.on("pageerror", (error) => seen.log.push({ source: "exception", level: "error", text: String(error.stack) }));
    const chrome = await page.context().newCDPSession(page);
    chrome.on("Log.entryAdded", ({ entry }) =>
        seen.log.push({ source: entry.source, level: entry.level, text: entry.text, url: entry.url }));
    chrome.on("Runtime.consoleAPICalled", ({ type, args }) => {
        const text = args.map((one) => one.value ?? one.description).join(" ");
        seen.log.push({ source: "console", level: type, text });
    });
    chrome.on("Audits.issueAdded", ({ issue }) => {
        const violation = issue.details.contentSecurityPolicyIssueDetails;
        if (violation) seen.violations.push(violation);
    });
    await Promise.all(["Log.enable", "Runtime.enable", "Audits.enable"].map((domain) => chrome.send(domain)));
    return seen;
}

// A device whose clock is wrong: everything that a script can ask for the time of day is off by so much.
function shiftClock(by) {
    const RealDate = Date, origin = performance.timeOrigin;
    globalThis.clockShift = by;
    globalThis.Date = class extends RealDate {
        constructor(...given) {
            if (given.length) super(...given);
            else super(RealDate.now() + globalThis.clockShift);
        }
        static now() {
            return RealDate.now() + globalThis.clockShift;
        }
    };
    Object.defineProperty(performance, "timeOrigin", { get: () => origin + globalThis.clockShift });
}

// Waits of some seconds are so many times as long: those after which a page gives up. What it shows by the second
// goes on as ever.
function makePatient(times) {
    const { setTimeout: later } = globalThis, { timeout } = AbortSignal;
    const stretched = (ms) => (ms >= 5000 ? ms * times : ms);
    globalThis.setTimeout = (act, ms, ...given) => later(act, stretched(ms), ...given);
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, stretched(ms));
}

async function adopt(page, context) {
    const number = ++last;
    page.setDefaultTimeout(WAIT_MS_MAX);
    pages.set(number, { page, context, held: new Map(), released: new Set(), seen: await watch(page) });
    return number;
}

function spoiled(given) {
    const solution = JSON.parse(atob(given.answer));
    return JSON.stringify({ ...given, answer: btoa(JSON.stringify({ ...solution, number: solution.number + 1 })) });
}

const commands = {
    // A page in a browser profile of its own, or, with `beside`, another tab of that page's profile.
    // `chance` is what every Math.random() of it answers.
    async open({ beside, options, cookie, clock_shift_ms, chance, patience }) {
        let context = beside ? pages.get(beside).context : null;
        if (!context) {
            context = await browser.newContext({ timezoneId: "Asia/Taipei", ...options });
            if (cookie) await context.addCookies([cookie]);
            if (clock_shift_ms) await context.addInitScript(shiftClock, clock_shift_ms);
            if (patience > 1) await context.addInitScript(makePatient, patience);
            if (chance !== null) await context.addInitScript((value) => (Math.random = () => value), chance);
        }
        return adopt(await context.newPage(), context);
    },

    async close({ page }) {
        const { page: it, context } = pages.get(page);
        pages.delete(page);
        await it.close();
        if (context.pages().length === 0) await context.close();
    },

    // The status and the headers of what came.
    async goto({ page, url }) {
        const answer = await pages.get(page).page.goto(url, { waitUntil: "domcontentloaded" });
        return answer ? { status: answer.status(), headers: await answer.allHeaders() } : null;
    },

    async reload({ page }) {
        await pages.get(page).page.reload({ waitUntil: "domcontentloaded" });
    },

    async url({ page }) {
        return pages.get(page).page.url();
    },

    async wait({ page, selector, state }) {
        await pages.get(page).page.waitForSelector(selector, { state });
    },

    async wait_url({ page, prefix }) {
        await pages.get(page).page.waitForURL((url) => url.href.startsWith(prefix), { waitUntil: "domcontentloaded" });
    },

    // Until `expression`, a function body, is true in the page.
    async wait_true({ page, expression, argument }) {
        await pages.get(page).page.waitForFunction(new Function("argument", expression), argument);
    },

    async click({ page, selector, count }) {
        await pages.get(page).page.click(selector, { clickCount: count ?? 1 });
    },

    async fill({ page, selector, text }) {
        await pages.get(page).page.fill(selector, text);
    },

    async select({ page, selector, value }) {
        await pages.get(page).page.selectOption(selector, value);
    },

    async press({ page, key }) {
        await pages.get(page).page.keyboard.press(key);
    },

    async text({ page, selector }) {
        return pages.get(page).page.textContent(selector);
    },

    async evaluate({ page, expression, argument }) {
        return pages.get(page).page.evaluate(new Function("argument", expression), argument);
    },

    async offline({ page, on }) {
        await pages.get(page).context.setOffline(on);
    },

    async media({ page, ...features }) {
        await pages.get(page).page.emulateMedia(features);
    },

    async viewport({ page, width, height }) {
        await pages.get(page).page.setViewportSize({ width, height });
    },

    async screenshot({ page, path }) {
        await pages.get(page).page.screenshot({ path, fullPage: true, animations: "disabled", caret: "hide" });
    },

    // Every rule that axe has, and what it finds.
    async axe({ page }) {
        const { page: it } = pages.get(page);
        if (!(await it.evaluate(() => "axe" in globalThis))) await it.evaluate(axe);
        return it.evaluate(async () => {
            const rules = Object.fromEntries(globalThis.axe.getRules().map((rule) => [rule.ruleId, { enabled: true }]));
            const found = await globalThis.axe.run(document, { rules, resultTypes: ["violations"] });
            return {
                rules: found.passes.length + found.violations.length + found.inapplicable.length +
                    found.incomplete.length,
                violations: found.violations.map((one) => ({
                    rule: one.id, tags: one.tags, help: one.help,
                    nodes: one.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`),
                })),
            };
        });
    },

    // What happens to the next requests whose path ends like this: one step each, then they go through again.
    //   {"step":"pass"} goes through
    //   {"step":"hold"} waits for `release`, after which no other is held
    //   {"step":"answer","status":…,"headers":{…},"body":…} comes in place of the server's
    //   {"step":"lose"} reaches the server, and its answer is lost
    //   {"step":"spoil"} reaches the server with another solution of a proof of work: a wrong one
    async interfere({ page, method, ending, steps }) {
        const entry = pages.get(page);
        const left = [...steps];
        entry.released.delete(ending);
        await entry.page.route((url) => url.pathname.endsWith(ending), async (route) => {
            const step = route.request().method() === method ? left.shift() : null;
            if (step && step.step === "hold" && !entry.released.has(ending)) {
                await new Promise((resolve) => {
                    entry.held.set(ending, resolve);
                    entry.on_held?.();
                });
            }
            if (step && step.step === "answer") {
                return route.fulfill({ status: step.status, headers: step.headers, body: step.body });
            }
            if (step && step.step === "lose") {
                await route.fetch();
                return route.abort("connectionreset");
            }
            if (step && step.step === "spoil") {
                return route.continue({ postData: spoiled(route.request().postDataJSON()) });
            }
            return route.continue();
        });
    },

    // Waits for what is to be held, should it still be on its way.
    async release({ page, ending }) {
        const entry = pages.get(page);
        while (!entry.held.has(ending)) await new Promise((resolve) => (entry.on_held = resolve));
        entry.released.add(ending);
        entry.held.get(ending)();
        entry.held.delete(ending);
    },

    async seen({ page }) {
        const { requests, log, violations } = pages.get(page).seen;
        return { requests, log, violations };
    },

    async storage({ page }) {
        return pages.get(page).page.evaluate(() => ({ ...localStorage }));
    },
};

async function main(wanted) {
    // Chromium's own sandbox refuses to work for root, which is who runs tests in containers.
    // There is no screen to be quick for: what draws in software draws at once.
    const args = ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
    axe = require("fs").readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    browser = await chromium.launch({ executablePath: wanted.chromium, headless: true, args });
    console.log(JSON.stringify({ id: 0, is: browser.version() }));
    for await (const line of readline.createInterface({ input: process.stdin })) {
        const { id, do: what, with: given } = JSON.parse(line);
        try {
            console.log(JSON.stringify({ id, is: (await commands[what](given)) ?? null }));
        } catch (error) {
            console.log(JSON.stringify({ id, error: String(error.message) }));
        }
    }
    await browser.close();
}

main(JSON.parse(process.argv[2])).catch((error) => {
    console.error(error);
    process.exit(1);
});
