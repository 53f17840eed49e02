/** Filters, sorts and walks the lists of a page, and looks whether its address brings all that back in another tab. */
import type { Page } from 'playwright-core'

/** How long lists take to come, and addresses to be written. */
const settledMs = 900

/** Everything that a person can set on a page, by its place on the page. */
type Settings = Readonly<Record<string, string>>

/** Returns a line for each setting that another tab does not have at the same address. */
export async function compareAddresses(page: Page, path: string): Promise<string[]> {
  await page.goto(path)
  await page.waitForTimeout(settledMs)
  const before = await settingsOf(page)
  await drive(page)
  await page.waitForTimeout(settledMs)
  const driven = await settingsOf(page)
  const address = page.url()
  const other = await page.context().newPage()
  await other.goto(address)
  await other.waitForTimeout(settledMs * 2)
  const again = await settingsOf(other)
  await other.close()
  const changed = Object.keys(driven).filter((key) => driven[key] !== before[key])
  console.log(`${address}\t${changed.length} settings changed`)
  return changed
    .filter((key) => again[key] !== driven[key])
    .map((key) => `${key} is ${driven[key]}, and ${again[key]} in another tab`)
}

function settingsOf(page: Page): Promise<Settings> {
  return page.evaluate<Settings>(`(() => {
    const found = {}
    const all = (selector, value) =>
      [...document.querySelectorAll('main ' + selector)].forEach((element, at) => {
        found[selector + ' ' + at] = String(value(element))
      })
    all('.bar input[type=checkbox]', (field) => field.checked)
    all('.bar input:not([type=checkbox])', (field) => field.value)
    all('.bar select', (field) => field.value)
    all('.count', (button) => button.getAttribute('aria-pressed'))
    all('[role=columnheader]', (header) => header.getAttribute('aria-sort'))
    all('.step', (step) => step.getAttribute('aria-current'))
    const rows = [...document.querySelectorAll('main [role=row][aria-selected=true]')]
    found['chosen rows'] = rows.map((row) => row.id).join(' ')
    return found
  })()`)
}

async function drive(page: Page): Promise<void> {
  const main = page.locator('main')
  for (const field of await main.locator('.bar select').all()) {
    if ((await field.locator('option').count()) > 1) await field.selectOption({ index: 1 })
  }
  for (const box of await main.locator('.bar input[type=checkbox]').all()) await box.click()
  const namespace = main.locator('.bar input.namespace')
  for (const field of await namespace.all()) await field.fill('default')
  const times = main.locator('.bar input[type=datetime-local]')
  if ((await times.count()) > 0) await times.first().fill('2026-01-02T03:04')
  const states = main.locator('.count')
  if ((await states.count()) > 0) await states.first().click()
  const steps = main.locator('.step')
  if ((await steps.count()) > 0) await steps.last().click()
  await page.waitForTimeout(settledMs)
  for (const table of await main.getByRole('grid').all()) {
    const sorts = table.locator('.table-sort')
    if ((await sorts.count()) > 0) for (const _ of [1, 2]) await sorts.last().click()
    await table.focus()
    await page.keyboard.press('j')
  }
  await page.waitForTimeout(settledMs)
  const search = main.locator('.bar input[type=search]')
  const chosen = main.locator('[role=row][aria-selected=true] [role=gridcell] a')
  const text = (await chosen.count()) > 0 ? await chosen.first().innerText() : ''
  if ((await search.count()) > 0) await search.first().fill(text.slice(0, 2) || 'e')
}
