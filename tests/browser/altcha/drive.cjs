// Opens a page as a signed-in buyer and prints what it put into #result.
//   node drive.cjs '{"url":…,"cookie":{"name":…,"value":…},"seconds_max":…,"chromium":…}'
// playwright-core is found through NODE_PATH.
const { chromium } = require("playwright-core");

async function main(wanted) {
    // Chromium's own sandbox refuses to work for root, which is who runs tests in containers.
    const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
    const browser = await chromium.launch({ executablePath: wanted.chromium, headless: true, args });
    try {
        const context = await browser.newContext();
        const url = new URL(wanted.url);
        await context.addCookies([{ ...wanted.cookie, url: url.origin, sameSite: "Strict", httpOnly: true }]);
        const page = await context.newPage();
        page.on("console", (message) => console.error(`console: ${message.text()}`));
        page.on("pageerror", (error) => console.error(`page: ${error}`));
        await page.goto(wanted.url);
        await page.waitForFunction(() => document.querySelector("#result").textContent !== "", null,
            { timeout: wanted.seconds_max * 1000 });
        console.log(await page.textContent("#result"));
    } finally {
        await browser.close();
    }
}

main(JSON.parse(process.argv[2])).catch((error) => {
    console.error(error);
    process.exit(1);
});
