import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { machineFiles } from './machine-files.ts'
import { programUsersOf, readMachinePlan } from './machine-plan.ts'

async function read(text: string): ReturnType<typeof readMachinePlan> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-plan-'))
  try {
    await writeFile(join(directory, 'plan'), text)
    return await readMachinePlan(join(directory, 'plan'))
  } finally {
    await rm(directory, { recursive: true })
  }
}

const plan = { clusterName: 'branch-7', nodeName: 'shop', role: 'Node' }

test('a plan has the ranges of a site by default', async () => {
  const ranges = { podCIDR: '10.42.0.0/16', serviceCIDR: '10.43.0.0/16' }
  assert.deepEqual(await read(JSON.stringify(plan)), {
    ...plan,
    ...ranges,
    isOffline: false,
    hasVirtualIP: false,
    apiPort: 6_443,
  })
})

const refused: readonly [string, RegExp][] = [
  ['{', /Cannot read plan/],
  [JSON.stringify({ ...plan, role: 'Boss' }), /role/],
  [JSON.stringify({ ...plan, nodeName: '' }), /nodeName/],
  [JSON.stringify({ role: 'Node', nodeName: 'a' }), /clusterName/],
  [JSON.stringify({ ...plan, podCIDR: 7 }), /podCIDR/],
]
for (const [text, why] of refused) {
  test(`the plan ${text} is refused by its field`, async () => {
    await assert.rejects(
      read(text),
      (error) => error instanceof ExpectedError && why.test(error.message),
    )
  })
}

const files: readonly [Parameters<typeof machineFiles>[0]['role'], readonly string[]][] = [
  ['Witness', ['skerry-witness.service']],
  ['Master', ['skerry-site.service', 'skerry-node.service', 'skerry.conf', '90-skerry.conf']],
  ['Node', ['skerry-node.service', 'skerry.conf', '90-skerry.conf']],
]
for (const [role, names] of files) {
  test(`a ${role} gets ${names.join(', ')}, which only root may change`, () => {
    const found = machineFiles({ role, hasVirtualIP: false })
    assert.deepEqual(
      found.map(({ path }) => path.split('/').at(-1)),
      names,
    )
    assert.ok(found.every(({ mode }) => mode === 0o644))
  })
}

test('a master with a virtual IP gets its unit, and the programs for it', () => {
  const paths = machineFiles({ role: 'Master', hasVirtualIP: true }).map(({ path }) => path)
  assert.ok(paths.includes('/etc/systemd/system/skerry-virtual-ip.service'))
  const plan = { ...whole, role: 'Master' as const, hasVirtualIP: true }
  assert.deepEqual(programUsersOf(plan), ['node', 'virtual IP'])
  assert.deepEqual(programUsersOf({ ...plan, role: 'Witness', hasVirtualIP: false }), [])
})

const whole = {
  clusterName: 'a',
  nodeName: 'b',
  podCIDR: '10.42.0.0/16',
  serviceCIDR: '10.43.0.0/16',
  isOffline: false,
  apiPort: 6_443,
}
