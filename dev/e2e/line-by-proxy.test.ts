/** Makes a site of a machine that reaches nothing but a proxy, which wants a login and opens TLS. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { startTestMachine, whyNoMachine, type TestHost, type TestMachine } from '@skerry/testing'
import { LineHub } from './line-hub.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())

const password = `p%4:"s'$x\\ with spaces`

test(
  'a copied line makes a machine a site through a proxy that wants a login and opens TLS',
  { skip, timeout: 240_000 },
  async (t) => {
    await using hub = await LineHub.start('--allow-inspected-tls')
    hub.keepSecret(password)
    const nodeName = `line-proxy-${process.pid.toString(36)}`
    const outside = await hub.network.addHost(2)
    await using machine = await startTestMachine(await hub.network.addHost(11), nodeName)
    const proxy = await startProxy(outside)
    const network = machine.address.replace(/\d+$/, '0/24')
    const way = ['ip', 'route', 'add', outside.address, 'dev', 'eth0', 'src', machine.address]
    await machine.ask(way)
    await machine.ask(['ip', 'route', 'delete', network])
    const words = ['--proxy', proxy.url, '--proxy-credentials', '--inspected-tls']
    await hub.makeLine(...words, '--site-port', '7000')
    const node = '--label tier=front --taint example.com/video=yes:NoSchedule'
    const line = hub.line.trimEnd().replace(/\)$/, ` ${node})`)

    await t.test('without the login the machine is left as it was', async () => {
      const { exitCode, stderr } = await hub.paste(machine, line)
      assert.notEqual(exitCode, 0)
      assert.match(stderr, /\/etc\/skerry\/proxy-credentials/)
      assert.equal((await machine.run(['test', '-e', '/usr/local/bin/skerry'])).exitCode, 1)
    })
    await t.test('with it the site is Ready on the hub', async () => {
      await writeLogin(machine)
      const { exitCode, stdout, stderr } = await hub.paste(machine, line)
      assert.equal(exitCode, 0, stdout + stderr)
      assert.match(stdout, /cluster branch-7 is Ready on the hub/)
      assert.ok(!`${stdout}${stderr}`.includes(password))
      assert.deepEqual([...new Set(proxy.passed)], [`CONNECT ${hub.address}:7443`])
    })
    await t.test('its API has the port, and its node the label and the taint', async () => {
      const port = ['get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.ports[0].targetPort}']
      assert.equal(await hub.siteKubectl(...port), '7000')
      const path = '{.metadata.labels.tier} {.spec.taints[*].key}'
      const found = await hub.siteKubectl('get', 'node', nodeName, '-o', `jsonpath=${path}`)
      assert.equal(found, 'front example.com/video')
    })
    await t.test(
      'only root reads the login, and no process and no journal has shown it',
      async () => {
        hub.assertNoToken()
        const modes = await machine.ask([
          'sh',
          '-c',
          'stat -c %a /etc/skerry/proxy.env /etc/skerry/apt.conf',
        ])
        assert.equal(modes, '600\n600\n')
        const journal = await machine.ask(['journalctl', '--no-pager'])
        const encoded = encodeURIComponent(password).slice(0, 12)
        assert.ok(!journal.includes(password) && !journal.includes(encoded))
      },
    )
    await t.test('cleaning takes the login away', async () => {
      await machine.ask(['skerry', 'machine', 'clean', '--yes'])
      assert.equal((await machine.run(['test', '-e', '/etc/skerry'])).exitCode, 1)
    })
  },
)

async function writeLogin(machine: TestMachine): Promise<void> {
  const script = 'umask 077; mkdir -p /etc/skerry; cat >/etc/skerry/proxy-credentials'
  await machine.ask(['sh', '-c', script], { input: `olga:${password}\n` })
}

interface Proxy {
  readonly url: string
  /** A line for each request that was passed on. */
  readonly passed: string[]
}

async function startProxy(host: TestHost): Promise<Proxy> {
  const script = join(import.meta.dirname, 'connect-proxy-process.ts')
  const env = { ...process.env, PROXY_LOGIN: `olga:${password}` }
  const command = [process.execPath, script, host.address, 'inspect']
  const child = host.start(command, { stdio: ['ignore', 'pipe', 'inherit'], env })
  if (child.stdout === null) throw new Error('Cannot start the proxy of the test: no output')
  const lines = createInterface({ input: child.stdout })
  const [port] = await once(lines, 'line', { signal: AbortSignal.timeout(30_000) })
  const passed: string[] = []
  lines.on('line', (each) => passed.push(each))
  return { url: `http://${host.address}:${port}`, passed }
}
