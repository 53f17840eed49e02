/** Upgrades a machine over SSH while its pod runs, and then with a program that does not work. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestMachine, whyNoMachine, type TestMachine } from '@skerry/testing'
import { assertSound } from './console-scene.ts'
import { openConsoleTab, type ConsoleTab } from './console-tab.ts'
import { EdgeHub } from './edge-hub.ts'
import { exampleArchives } from './example-archives.ts'
import { beginsJob, untilJobDone, untilMachine } from './job-pages.ts'
import { assertKeepsSecrets } from './keeps-secrets.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())
const namespace = 'edges'
const name = 'branch-7'
const registryPassword = `r3gistry p@ss:'"$%/\\`
const auth = Buffer.from(`till:${registryPassword}`).toString('base64')
const login = { auth }

interface Scene {
  readonly hub: EdgeHub
  readonly machine: TestMachine
  readonly directory: string
}

interface Story extends Scene {
  readonly tab: ConsoleTab
}

test('upgrades of an edge cluster', { skip, timeout: 400_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-upgrade-'))
  await using _removed = {
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
  await using hub = await EdgeHub.start()
  const host = await hub.network.addHost(11)
  await using machine = await startTestMachine(host, `master-${process.pid.toString(36)}`)
  const scene = { hub, machine, directory }
  await t.test('a cluster of one machine runs a pod', () => makeCluster(scene))
  const before = await containerOf(scene)
  await t.test('the hub lists the programs that it was given', () => givePrograms(scene))
  await using tab = await openConsoleTab(hub)
  const all: Story = { ...scene, tab }
  await t.test(
    'a job of the console waits until somebody confirms on the machine, which is then Ready',
    () => upgrades(all),
  )
  await t.test('the pod went on in its container', async () => {
    assert.deepEqual(await containerOf(all), before)
  })
  await t.test('images are pulled from a mirror before something needs them', () => pulls(all))
  await t.test(
    'a program that migrates the store and does not work is taken back with the store, and the machine is Ready',
    () => rollsBack(all),
  )
  await t.test(
    'a further name of the API reaches the certificate, and the pod still runs',
    async () => {
      await addsName(all)
      assert.deepEqual(await containerOf(all), before)
    },
  )
  await t.test('options are given to a role, and the pod still runs in its container', async () => {
    await configures(all)
    assert.deepEqual(await containerOf(all), before)
  })
  await t.test('no job has written a password or a token anywhere', () =>
    assertKeepsSecrets(hub, [machine], [machine.passwords.root, registryPassword, auth]),
  )
})

async function makeCluster({ hub, machine }: Scene): Promise<void> {
  await hub.apply(`
apiVersion: v1
kind: Namespace
metadata: { name: ${namespace} }
---
apiVersion: v1
kind: Secret
metadata: { name: root-login, namespace: ${namespace} }
stringData: { password: ${machine.passwords.root} }
---
apiVersion: hub.skerry.io/v1alpha1
kind: EdgeCluster
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  hubServer: ${hub.server}
  machines:
    - addresses: ['${machine.address}']
      role: Master
      credentials: { name: root-login }
      hostKeys: ['${await machine.hostKey()}']
`)
  await hub.untilPhase('Ready')
  const image = join(await exampleArchives(), 'guestbook-v1.tar')
  await machine.ask(['sh', '-c', 'cat > /root/guestbook.tar'], { input: await readFile(image) })
  await machine.ask(['skerry', 'image', 'import', '/root/guestbook.tar'])
  await hub.applyToSite(`
apiVersion: v1
kind: Pod
metadata: { name: till, namespace: default }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - { name: till, image: 'skerry-examples/guestbook:v1', command: [sh, -c, 'exec sleep 10000'] }
`)
  await hub.siteKubectl('wait', '--for=condition=Ready', 'pod/till', '--timeout=60s')
}

/** Returns the container of the pod, and the process on the machine that has been its first one since its start. */
async function containerOf({ hub, machine }: Scene): Promise<readonly string[]> {
  const path =
    '{.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}'
  const told = await hub.siteKubectl('get', 'pod', 'till', '-o', `jsonpath=${path}`)
  const pid = (await machine.ask(['pgrep', '-x', '-f', 'sleep 10000'])).trim()
  const stat = await machine.ask(['cat', `/proc/${pid}/stat`])
  return [told, pid, stat.split(' ')[21] ?? '']
}

/**
 * Makes two versions of what the machine runs: one that works, and one whose roles end at once. Both say their version, as
 * a broken release would.
 */
async function givePrograms({ hub, machine, directory }: Scene): Promise<void> {
  const launcher = await machine.ask(['cat', '/usr/local/bin/skerry'])
  const rest = launcher.slice(launcher.indexOf('flags='))
  const start = (version: string, roles: string): string => `#!/bin/sh
case "\${1:-}" in
--version) echo ${version}; exit ;;
${roles}
esac
${rest}`
  const good = join(directory, 'good')
  const broken = join(directory, 'broken')
  await writeFile(good, start('0.1.1', ''))
  await writeFile(broken, start('0.1.2', migrating))
  for (const path of [good, broken]) await chmod(path, 0o755)
  await hub.kill()
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const given = [good, broken].flatMap((path) => ['--machine-program', `${architecture}=${path}`])
  await hub.restart(...given)
  await hub.until('the list of programs', async () => {
    const { stdout } = await hub.skerry('edge-cluster', 'versions')
    return stdout.includes('0.1.0-') && stdout.includes('0.1.1-') && stdout.includes('0.1.2-')
  })
}

/** Says that it has a later schema, writes that into the store as a migration does, and ends. Byte 60 has its number. */
const migrating = `machine) if [ "$2" = store-schema ]; then echo 99; exit; fi ;;
site)
  printf '\\0\\0\\0\\143' | dd of=/var/lib/skerry/site/store.db bs=1 seek=60 conv=notrunc 2>/dev/null
  exit 1 ;;
node) exit 1 ;;`

async function upgrades(all: Story): Promise<void> {
  const { hub, machine, tab } = all
  await beginsJob(tab, {
    namespace,
    name,
    job: 'good',
    work: 'upgrade',
    isConfirmed: true,
    fields: { Version: '0.1.1' },
  })
  await untilMachine(tab.page, 'Waiting for you')
  await assertSound(tab.browser, tab.page, 'job-waits')
  const text = await machine.ask(['skerry', 'confirm', '--show'])
  assert.match(text, /Job edges\/good: upgrade to 0\.1\.1 on cluster branch-7, its master first/)
  assert.doesNotMatch(await machine.ask(['cat', '/usr/local/bin/skerry']), /0\.1\.1/)
  await machine.ask(['skerry', 'confirm', '--yes'])
  await untilJobDone(tab)
  assert.match(await machine.ask(['cat', '/usr/local/bin/skerry']), /skerry\/0\.1\.1-/)
  await hub.siteKubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=30s')
  const programs = await hub.kubectl(
    'get',
    'edgecluster',
    name,
    '-n',
    namespace,
    '-o',
    'jsonpath={.status.programs}',
  )
  assert.match(
    programs,
    new RegExp(`"${machine.address.replaceAll('.', String.raw`\.`)}":"0\\.1\\.1-`),
  )
}

async function pulls({ hub, tab }: Story): Promise<void> {
  const script = join(import.meta.dirname, 'registry-process.ts')
  const words = ['basic', 'till', '', hub.host.address]
  const child = hub.host.start([process.execPath, script, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, REGISTRY_PASSWORD: registryPassword },
  })
  assert.ok(child.stdout)
  const limit = { signal: AbortSignal.timeout(60_000) }
  const [port] = await once(createInterface({ input: child.stdout }), 'line', limit)
  const endpoints = [`http://${hub.host.address}:${port}`]
  const auths = { [`${hub.host.address}:${port}`]: login, 'registry.example': login }
  await hub.setSecret('registry', { '.dockerconfigjson': JSON.stringify({ auths }) })
  await hub.patchSpec({ registries: [{ host: 'registry.example', endpoints }] })
  await hub.untilPhase('Ready')
  const image = 'registry.example/test/app:v1'
  await beginsJob(tab, {
    namespace,
    name,
    job: 'pull',
    work: 'pullImages',
    isConfirmed: true,
    fields: { Images: image, 'Secret for the registries': 'registry' },
  })
  await untilMachine(tab.page, 'Waiting for you')
  await tab.page.getByRole('button', { name: 'Confirm for 1' }).click()
  await untilJobDone(tab)
  // Nothing else pulls it.
  await hub.applyToSite(`
apiVersion: v1
kind: Pod
metadata: { name: pulled, namespace: default }
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: pulled, image: '${image}', imagePullPolicy: Never }]
`)
  await hub.siteKubectl('wait', '--for=condition=Ready', 'pod/pulled', '--timeout=60s')
  await hub.siteKubectl('delete', 'pod', 'pulled')
}

async function rollsBack(all: Story): Promise<void> {
  const { hub, machine } = all
  const words = ['upgrade', 'edge-cluster', name, '--to', '0.1.2', '--job', 'broken']
  const made = await hub.skerry(...words, '--timeout', '15', '--wait', '--namespace', namespace)
  assert.equal(made.exitCode, 1, made.stdout)
  assert.match(
    made.stderr,
    /1 rolled back; branch-7: \S+: MachineReady: \S+ is not Ready after 15 s/,
  )
  assert.match(await machine.ask(['cat', '/usr/local/bin/skerry']), /skerry\/0\.1\.1-/)
  const path = '{.status.steps[?(@.name=="RollBack")].message}'
  const part = ['get', 'edgejobcluster', `broken.${name}`, '-n', namespace, '-o']
  const told = await hub.kubectl(...part, `jsonpath=${path}`)
  assert.match(told, /^Ready again with 0\.1\.1-\S+, with the store of the backup$/)
  await hub.siteKubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=30s')
  const backups = await machine.ask(['ls', '/var/lib/skerry/site/backups'])
  assert.equal(backups.trim().split('\n').length, 2)
}

async function addsName({ hub, machine, directory }: Story): Promise<void> {
  const config = join(directory, 'site-admin.kubeconfig')
  await writeFile(config, await machine.ask(['cat', '/var/lib/skerry/site/admin.kubeconfig']))
  const server = `--server=https://${machine.address}:6443`
  const ask = ['get', '--raw', '/version', server, `--kubeconfig=${config}`]
  const named = () => hub.tryKubectl([...ask, '--tls-server-name=api.branch-7.example'])
  assert.match((await named()).stderr, /certificate is valid for .*, not api\.branch-7\.example/)
  await hub.patchSpec({ apiNames: ['api.branch-7.example'] })
  await hub.until('the site to serve the name', async () => (await named()).exitCode === 0)
  await hub.untilPhase('Ready')
}

async function configures({ tab, machine }: Story): Promise<void> {
  await beginsJob(tab, {
    namespace,
    name,
    job: 'configure',
    work: 'configure',
    isConfirmed: false,
    fields: {},
    choices: { 'Log level of nodes': 'debug' },
  })
  await untilJobDone(tab)
  const pid = await machine.ask([
    'systemctl',
    'show',
    '--property=MainPID',
    '--value',
    'skerry-node',
  ])
  const line = await machine.ask(['cat', `/proc/${pid.trim()}/cmdline`])
  assert.match(line.replaceAll('\0', ' '), /--log-level debug/)
}
