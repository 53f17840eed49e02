/** An edge cluster on the pages of the console: its form, its steps, its machines, and its end. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import type { TestMachine } from '@skerry/testing'
import { assertSound } from './console-scene.ts'
import type { ConsoleTab } from './console-tab.ts'

export interface EdgePlace {
  readonly namespace: string
  readonly name: string
}

/**
 * Fills in the form, by keys alone, with a machine at a wrong port. The hub has accepted it before any machine was
 * asked.
 */
export async function fillsForm(page: Page, place: EdgePlace, machine: TestMachine): Promise<void> {
  await page.goto('/console/new-edge-cluster')
  await field(page, 'Name').waitFor()
  await typeInto(page, 'Name', place.name)
  await typeInto(page, 'Namespace', place.namespace)
  await typeInto(page, 'Addresses', machine.address)
  await tabTo(page, 'Login')
  const login = page.getByRole('combobox', { name: 'Login', exact: true })
  while ((await login.inputValue()) !== 'password') await page.keyboard.press('ArrowDown')
  await typeInto(page, 'Password', `not ${machine.passwords.root}`)
  await typeInto(page, 'SSH port', '23')
  await page.getByText('The hub accepts this. (at most 256 nodes with 110 pods each').waitFor()
}

/** Writes over the value of a field, which the keys lead to. */
async function typeInto(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, label)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

const controlsMax = 80
/** The label of the focused field, without the choices of a list in it, or the text of a button. */
const focusedName = `(({ labels, textContent, options }) => {
  const label = labels?.[0]?.textContent ?? textContent
  return options === undefined ? label : label.slice(0, label.length - textContent.length).trim()
})(document.activeElement)`

/** Presses Tab until the control with this label or text has the focus. */
export async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let presses = 0; presses < controlsMax; presses += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate<string>(focusedName)) === wanted) return
  }
  assert.fail(`Tab does not lead to ${wanted}`)
}

/** Each fault stands at the field that helps, and nothing else is marked. */
export async function namesFields(
  { browser, page }: ConsoleTab,
  machine: TestMachine,
): Promise<void> {
  await page.getByRole('button', { name: 'Check the machines' }).click()
  await onlyFault(page, 'SSH port', 'refused')
  await assertSound(browser, page, 'check-port')
  await field(page, 'SSH port').fill('')
  await field(page, 'Host key').fill(`SHA256:${'A'.repeat(43)}`)
  await checkAgain(page)
  await onlyFault(page, 'Host key', 'it is another')
  await field(page, 'Host key').fill('')
  await checkAgain(page)
  const accept = page.getByRole('button', { name: 'Accept this key' })
  const shown = page.locator('.command').filter({ has: accept })
  await shown.getByText(await machine.hostKey()).waitFor()
  await assertSound(browser, page, 'check-key')
  await accept.click()
  await onlyFault(page, 'Password', 'Cannot log in')
  await field(page, 'User').fill('keeper')
  await field(page, 'Password').fill(machine.passwords.keeper)
  await field(page, 'Password for sudo').fill('wrong')
  await checkAgain(page)
  await onlyFault(page, 'Password for sudo', 'sudo')
  await assertSound(browser, page, 'check-sudo')
  await field(page, 'User').fill('')
  await field(page, 'Password').fill(machine.passwords.root)
  await field(page, 'Password for sudo').fill('')
  await checkAgain(page)
  await page.getByText('Fit', { exact: true }).waitFor()
}

async function checkAgain(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Check again' }).click()
}

async function onlyFault(page: Page, label: string, text: string): Promise<void> {
  const wrong = page.locator('.field.has-fault')
  await wrong
    .filter({ has: field(page, label) })
    .filter({ hasText: text })
    .waitFor()
  assert.equal(await wrong.count(), 1)
}

function field(page: Page | Locator, label: string): Locator {
  return page.getByLabel(label, { exact: true })
}

/** A step of the list, by its name and state. */
export function stepMark(page: Page, name: string, state: string): Locator {
  return page.locator('.step').filter({ hasText: name }).filter({ hasText: state })
}

/** The row of a machine among those of an edge cluster. */
export function machineRow(page: Page, address: string): Locator {
  const whole = new RegExp(String.raw`${address.replaceAll('.', String.raw`\.`)}(?!\d)`)
  return page.getByRole('row').filter({ hasText: whole })
}

/** Adds machines as a list. Resolves when the page of the edge cluster shows how far they are. */
export async function addsBatch(
  { browser, page }: ConsoleTab,
  { name }: EdgePlace,
  lines: readonly string[],
): Promise<void> {
  await page.goto(`/console/clusters/${name}/add-nodes`)
  await page.getByRole('combobox', { name: 'Machines', exact: true }).selectOption('csv')
  await page.getByLabel('List', { exact: true }).fill(`${lines.join('\n')}\n"x",y`)
  await page.getByText(`Line ${lines.length + 1} has a quotation mark`).waitFor()
  await page.getByLabel('List', { exact: true }).fill(lines.join('\n'))
  await page.getByLabel('Accept the first key that a machine shows').check()
  await page.getByText('The hub accepts this.').waitFor()
  await assertSound(browser, page, 'batch')
  await page.getByRole('button', { name: 'Add them' }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

/** Takes a machine that never answered out of its cluster. */
export async function removesDead({ browser, page }: ConsoleTab, address: string): Promise<void> {
  await machineRow(page, address).getByRole('button', { name: 'Remove' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/It will never answer again/).check()
  const confirm = dialog.getByRole('button', { name: 'Remove', exact: true })
  assert.ok(await confirm.isDisabled())
  await dialog.getByLabel(`Type ${address} to confirm`).fill(address)
  await browser.picture(page, 'remove-machine')
  await confirm.click()
  await machineRow(page, address).waitFor({ state: 'detached', timeout: 120_000 })
}

/** Deletes an edge cluster by its typed name. Resolves when the hub has begun. */
export async function deletesEdge({ browser, page }: ConsoleTab, place: EdgePlace): Promise<void> {
  await page.goto(`/console/edge-clusters/${place.namespace}/${place.name}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(`Type ${place.name} to confirm`).fill(place.name)
  await assertSound(browser, page, 'delete-edge')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Edge clusters' }).waitFor()
}
