/** A cluster comes to the hub by the console: its command, its agent that waits, and the decision of a person. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { TestHost } from '@skerry/testing'
import { assertSound, type ConsoleScene } from './console-scene.ts'
import { RoleProcess, skerryCommand } from './role-process.ts'
import { waitFor } from './wait-for.ts'

interface Coming {
  readonly name: string
  readonly host: TestHost
  readonly kubeconfig: string
}

/** Rejects a first agent, whose token is void then, and accepts a second one. Resolves with the process of that. */
export async function connectsByPage(
  scene: ConsoleScene,
  page: Page,
  coming: Coming,
): Promise<RoleProcess> {
  const { browser } = scene
  await page.goto('/console/connect')
  const first = await startsAgent(scene, page, coming)
  const card = page.getByRole('region', { name: coming.name })
  await card.getByLabel('Fingerprint from the agent’s log').fill(`sha256:${'0'.repeat(64)}`)
  await card.getByText('This is another key').waitFor()
  assert.ok(await card.getByRole('button', { name: 'Accept' }).isDisabled())
  await assertSound(browser, page, 'agent-waits')
  await card.getByRole('button', { name: 'Reject' }).click()
  await card.waitFor({ state: 'detached' })
  await waitFor('the agent to be refused', async () =>
    (await readFile(first.agent.logFile, 'utf8')).includes('is denied') ? true : undefined,
  )
  await first.agent.kill()
  const { agent } = await startsAgent(scene, page, coming, first.token)
  const key = await waitFor('the fingerprint', async () => {
    return /"key":"(sha256:[0-9a-f]{64})"/.exec(await readFile(agent.logFile, 'utf8'))?.[1]
  })
  await card.getByLabel('Fingerprint from the agent’s log').fill(key)
  await card.getByText('Both are equal.').waitFor()
  await card.getByRole('button', { name: 'Accept' }).click()
  const arrived = page.getByRole('status').filter({ hasText: coming.name })
  await arrived.filter({ hasText: /Ready/ }).waitFor({ timeout: 60_000 })
  await assertSound(browser, page, 'agent-accepted')
  return agent
}

/** Makes the command on the page, and runs it as its reader would. Resolves when the page shows that the agent waits. */
async function startsAgent(
  { cluster }: ConsoleScene,
  page: Page,
  { name, host, kubeconfig }: Coming,
  earlier = '',
): Promise<{ readonly agent: RoleProcess; readonly token: string }> {
  await page.getByLabel('Name in the fleet').fill(name)
  await page.getByLabel('Groups that it lets in').fill('admins')
  await page.getByLabel('A person accepts the agent').check()
  await page.getByLabel('The hub may apply objects there').check()
  await page.getByRole('button', { name: 'Make the command' }).click()
  await page.getByRole('combobox', { name: 'Run', exact: true }).selectOption('command')
  const command = page.locator('.command').filter({ hasText: 'skerry' }).first()
  const hidden = await command.locator('code').innerText()
  await command.getByRole('button', { name: /Show|Hide/ }).click()
  const { shown, token } = await waitFor('the command', async () => {
    const text = await command.locator('code').innerText()
    const [, found] = /echo (\S+) > token/.exec(text) ?? []
    return found === undefined || found === earlier ? undefined : { shown: text, token: found }
  })
  assert.ok(!hidden.includes(token), 'the token is masked at first')
  const run = `${cluster.roles.length}`
  const tokenFile = join(cluster.directory, `${name}-${run}.token`)
  await writeFile(tokenFile, token)
  const words = shown.slice(shown.indexOf('&& skerry ') + '&& skerry '.length).split(/\s+/)
  const given = words.map((word) => (word === 'token' ? tokenFile : word))
  const own = ['--kubeconfig', kubeconfig, '--data-dir', join(cluster.directory, name, run)]
  const agent = new RoleProcess({
    host,
    name: `${name}-agent`,
    command: [...skerryCommand, ...given, ...own],
    logFile: join(cluster.directory, `${name}-agent-${run}.log`),
  })
  cluster.roles.push(agent)
  await agent.start()
  await page.getByText('An agent asks to be accepted, below.').waitFor({ timeout: 30_000 })
  await command.getByRole('button', { name: 'Hide' }).click()
  return { agent, token }
}
