import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isProxyBypassed } from '@skerry/base'
import { stepScene, type SceneOptions } from '../testing/step-scene.ts'
import { configureMachine, isConfigured } from './configure-machine.ts'

const password = `p@ss:'"$%/\\ ü`
const proxied: SceneOptions = {
  spec: {
    proxy: {
      httpProxy: 'http://proxy.example:3128',
      httpsProxy: 'https://proxy.example',
      noProxy: ['.example.org'],
      credentials: { name: 'proxy' },
    },
    registries: [
      { host: 'docker.io', endpoints: ['https://mirror.example:5000/', 'http://10.0.0.9:5000'] },
      { host: '*', endpoints: ['https://harbor.example/v2/cache'] },
    ],
  },
  values: { 'Secret proxy/username': 'eva\n', 'Secret proxy/password': password },
}

test('the proxy is written for units and apt, readable for root alone, with a login that reads back', async () => {
  const { context, shell, printed, concealed } = stepScene(proxied)
  const result = await configureMachine(context)
  const environment = shell.files.get('/etc/skerry/proxy.env') ?? ''
  const apt = shell.files.get('/etc/skerry/apt.conf') ?? ''
  const [, url = ''] = /^HTTP_PROXY=(.*)$/m.exec(environment) ?? []
  assert.match(environment, /^https_proxy=https:\/\/eva:/m)
  const read = new URL(url)
  assert.deepEqual([read.host, read.username], ['proxy.example:3128', 'eva'])
  assert.equal(decodeURIComponent(read.password), password)
  // systemd and apt read nothing else in it.
  assert.match(url, /^[\w:/@%.-]+$/)
  assert.ok(apt.includes(`Acquire::http::Proxy "${url}";\n`))
  assert.deepEqual(
    [...shell.modes].slice(0, 2).map(([, mode]) => mode),
    [0o600, 0o600],
  )
  const told = JSON.stringify([result, printed, shell.commands])
  assert.ok(!told.includes(password) && !told.includes(read.password))
  assert.ok(concealed.includes(password) && concealed.includes(read.password))
})

test('machines, ranges and the domain of the cluster are reached without the proxy', async () => {
  const { context, shell } = stepScene(proxied)
  await configureMachine(context)
  const [, list = ''] =
    /^NO_PROXY=(.*)$/m.exec(shell.files.get('/etc/skerry/proxy.env') ?? '') ?? []
  for (const host of [
    '10.0.0.11',
    '10.42.7.8',
    '10.43.0.1',
    'web.shop.svc.cluster.local',
    'a.example.org',
  ]) {
    assert.ok(isProxyBypassed({ host, port: 443 }, list), host)
  }
  assert.ok(!isProxyBypassed({ host: 'deb.debian.org', port: 443 }, list))
})

test('mirrors are written in the format of containerd, and one that is gone from the object is removed', async () => {
  const { context, shell } = stepScene(proxied)
  shell.files.set('/etc/skerry/registries/quay.io/hosts.toml', 'old')
  await configureMachine(context)
  assert.equal(
    shell.files.get('/etc/skerry/registries/docker.io/hosts.toml'),
    `# Written by the hub.

[host."https://mirror.example:5000"]
  capabilities = ["pull", "resolve"]

[host."http://10.0.0.9:5000"]
  capabilities = ["pull", "resolve"]
`,
  )
  assert.match(
    shell.files.get('/etc/skerry/registries/_default/hosts.toml') ?? '',
    /override_path = true/,
  )
  assert.equal(shell.files.has('/etc/skerry/registries/quay.io/hosts.toml'), false)
})

test('a machine that lists odd names in the directory of mirrors loses nothing elsewhere', async () => {
  const stdout = '..\n../../etc\nquay.io\n'
  const answer = ([program]: readonly string[]) => (program === 'ls' ? { stdout } : undefined)
  const { context, shell } = stepScene({ ...proxied, answer })
  await configureMachine(context)
  const removed = shell.commands
    .filter(([program]) => program === 'rm')
    .map((words) => words.at(-1))
  assert.deepEqual(removed, ['/etc/skerry/registries/quay.io', '/etc/skerry/owed-restart'])
})

test('units that run are started again when the proxy is another, and only then', async () => {
  const { context, shell } = stepScene(proxied)
  await configureMachine(context)
  const restarts = (): number => shell.commands.filter(([, verb]) => verb === 'restart').length
  assert.equal(restarts(), 2)
  await configureMachine(context)
  assert.equal(restarts(), 2)
})

test('mirrors alone start no unit again', async () => {
  const { registries = [] } = proxied.spec ?? {}
  const { context, shell } = stepScene({ spec: { registries } })
  await configureMachine(context)
  assert.equal(
    shell.commands.some(([, verb]) => verb === 'restart'),
    false,
  )
})

test('a proxy that is taken away is taken from the machine, because the step was done before', async () => {
  const before = {
    steps: [{ name: 'ConfigureMachine', machine: '10.0.0.11', state: 'Done' as const }],
  }
  const { context, shell } = stepScene({ status: before })
  assert.equal(isConfigured(context.edge), true)
  assert.equal(isConfigured(stepScene().context.edge), false)
  shell.files.set('/etc/skerry/proxy.env', 'HTTP_PROXY=http://old\n')
  await configureMachine(context)
  assert.doesNotMatch(shell.files.get('/etc/skerry/proxy.env') ?? '', /PROXY/)
})

test('a Secret without a password is a clear error', async () => {
  const { context } = stepScene({ ...proxied, values: { 'Secret proxy/username': 'eva' } })
  await assert.rejects(configureMachine(context), /Secret proxy has no key password/)
})
