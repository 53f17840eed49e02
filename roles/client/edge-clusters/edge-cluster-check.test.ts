import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { edgeClusterResource } from '@skerry/provisioning'
import { skerry, startCommandedHub } from '../../../testing/scenes/hub-commands.ts'
import type { TestHub } from '../../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
/** An address of documents (RFC 5737): no machine has it. */
const machine = '192.0.2.11:1'
const namespace = 'default'

const edges = ({ admin }: TestHub) => admin.resource(edgeClusterResource)

/** A Secret without a login: the first step of each machine fails for good, and no machine is asked. */
async function makeSecret({ admin }: TestHub): Promise<void> {
  const metadata = { namespace, name: 'empty' }
  await admin
    .resource(resources.secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', metadata }, soon())
}

const create = ['create', 'edge-cluster', 'branch-7', '--machine', machine]

test('a check prints the result of each machine and the steps, and leaves nothing on the hub', async () => {
  await using fleet = await startCommandedHub()
  await makeSecret(fleet)
  const words = [...create, '--credentials', 'empty', '--check']
  const [text, json] = [await skerry(fleet, ...words), await skerry(fleet, ...words, '-o', 'json')]
  assert.equal(text.code, 1, text.err)
  assert.match(
    text.err,
    /Cannot make edge cluster branch-7: 1 of 1 machines are not fit: 192\.0\.2\.11/,
  )
  assert.match(text.out, /^192\.0\.2\.11: Failed at Connect: /m)
  assert.match(text.out, /^1\. +ClaimName +hub +take the name of the cluster on the hub$/m)
  assert.match(text.out, /^\d+\. +InstallProgram +192\.0\.2\.11 +copy the program/m)
  const { phase, machines, plan } = JSON.parse(json.out)
  assert.deepEqual(
    [json.code, phase, machines[0].state, machines[0].step],
    [1, 'Failed', 'Failed', 'Connect'],
  )
  assert.equal(plan[0].step, 'ClaimName')
  assert.deepEqual((await edges(fleet).list({}, soon())).items, [])
})

test('a check with a login from a file leaves no Secret, unless it is kept for being made', async () => {
  await using fleet = await startCommandedHub()
  const file = join(fleet.directory, 'password')
  await writeFile(file, 'secret-of-the-machine\n', { mode: 0o600 })
  const words = [...create, '--private-key-file', file, '--check']
  const secrets = async (): Promise<number> => {
    const { items } = await fleet.admin.resource(resources.secrets).list({ namespace }, soon())
    return items.filter(({ metadata }) => metadata.name === 'branch-7-ssh').length
  }
  const gone = await skerry(fleet, ...words)
  assert.equal(gone.code, 1, gone.err)
  assert.equal(await secrets(), 0)
  const kept = await skerry(fleet, ...words, '--keep')
  assert.equal(kept.code, 1, kept.err)
  assert.equal(await secrets(), 1)
  const key = { namespace, name: 'branch-7' }
  assert.equal((await edges(fleet).get(key, soon())).spec.mode, 'Check')
  const made = await skerry(fleet, 'edge-cluster', 'make', 'branch-7')
  assert.deepEqual([made.code, made.err], [0, ''])
  assert.equal((await edges(fleet).get(key, soon())).spec.mode, 'Make')
})

test('options that contradict each other are refused before anything is sent', async () => {
  await using fleet = await startCommandedHub()
  await makeSecret(fleet)
  for (const [words, why] of [
    [['--check', '--dry-run'], /give --dry-run.* or --check/],
    [['--check', '--wait'], /--check makes nothing/],
    [['--keep'], /--keep needs --check/],
    [['--at-once', '0'], /whole number/],
    [['--at-once', '51', '--check'], /spec\.machinesAtOnce/],
    [['--pods-per-node', '7', '--check'], /spec\.network\.podsPerNode/],
  ] as const) {
    const { code, out, err } = await skerry(fleet, ...create, '--credentials', 'empty', ...words)
    assert.deepEqual([code, out], [2, ''], err)
    assert.match(err, why)
  }
  assert.deepEqual((await edges(fleet).list({}, soon())).items, [])
})

test('nodes that are added end with a table of results, and with 1 because one is not Ready', async () => {
  await using fleet = await startCommandedHub()
  await makeSecret(fleet)
  const made = await skerry(fleet, ...create, '--credentials', 'empty')
  assert.equal(made.code, 0, made.err)
  const more = [
    '--machine',
    '192.0.2.[12-13]',
    '--credentials',
    'empty',
    '--at-once',
    '2',
    '--wait',
  ]
  const { code, out, err } = await skerry(fleet, 'add', 'nodes', 'branch-7', ...more)
  assert.equal(code, 1, err)
  assert.match(err, /2 of 2 machines are not Ready; .*skerry edge-cluster retry branch-7/)
  assert.match(out, /^192\.0\.2\.12 +Node +- +Failed +Connect /m)
  assert.match(out, /^192\.0\.2\.13 +Node +- +Failed +Connect /m)
  const key = { namespace, name: 'branch-7' }
  assert.equal((await edges(fleet).get(key, soon())).spec.machinesAtOnce, 2)
  const get = await skerry(fleet, 'edge-cluster', 'get', 'branch-7', '-o', 'json')
  assert.deepEqual(
    JSON.parse(get.out).results.map(({ state }: { state: string }) => state),
    ['Failed', 'Failed', 'Failed'],
  )
})
