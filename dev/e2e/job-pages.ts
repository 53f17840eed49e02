/** Jobs on the pages of the console: the form, the machines, and what a person confirms. */
import type { Locator, Page } from 'playwright-core'
import { assertSound } from './console-scene.ts'
import type { ConsoleTab } from './console-tab.ts'
import type { EdgePlace } from './edge-pages.ts'

interface WantedJob extends EdgePlace {
  readonly job: string
  readonly work: 'upgrade' | 'configure' | 'pullImages'
  /** The texts of the form, by the names of its fields. */
  readonly fields: Readonly<Record<string, string>>
  /** Chosen from lists, in the same way. */
  readonly choices?: Readonly<Record<string, string>>
  readonly isConfirmed: boolean
}

/** Begins a job by its form. Resolves when its page is there. */
export async function beginsJob({ browser, page }: ConsoleTab, wanted: WantedJob): Promise<void> {
  const { namespace, name, job, work, fields, choices = {}, isConfirmed } = wanted
  // The hub refuses values of fields while they are typed.
  browser.expect(/status of (403|422)/)
  await page.goto('/console/new-job')
  const choice = (label: string): Locator =>
    page.getByRole('combobox', { name: label, exact: true })
  await choice('Work').selectOption(work)
  const all = { ...fields, 'Name of the job': job, Namespace: namespace }
  for (const [label, text] of Object.entries({ ...all, 'Edge clusters by name': name })) {
    await page.getByLabel(label, { exact: true }).fill(text)
  }
  for (const [label, value] of Object.entries(choices)) await choice(label).selectOption(value)
  await page.getByLabel('Each machine waits until a person confirms').setChecked(isConfirmed)
  await page.getByText('The hub accepts this.').waitFor()
  browser.expect(undefined)
  browser.takeFaults()
  await assertSound(browser, page, `job-form-${work}`)
  await page.getByRole('button', { name: 'Begin the job' }).click()
  await page.getByRole('heading', { level: 1, name: job }).waitFor()
}

export async function untilMachine(page: Page, state: string): Promise<void> {
  const row = page.getByRole('row').filter({ hasText: state })
  await row.first().waitFor({ timeout: 120_000 })
}

/** Waits until the job has come to its end on every machine. */
export async function untilJobDone({ browser, page }: ConsoleTab): Promise<void> {
  const mark = page.locator('.page-head').getByText('Completed', { exact: true })
  await mark.waitFor({ timeout: 120_000 })
  await untilMachine(page, 'Done')
  await assertSound(browser, page, 'job-done')
}
