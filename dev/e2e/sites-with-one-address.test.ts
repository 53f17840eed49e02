/** Tests shops that are alike: each has the same private network, and a hub must not confuse them. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestNetwork, unpackClients, type TestHost } from '@skerry/testing'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'
import { waitFor } from './wait-for.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root: network namespaces'
const address = '192.168.1.10'
const serviceRange = '10.43.0.0/16'
const shops = ['oslo', 'rome'] as const

interface Place {
  readonly directory: string
  readonly cloud: TestHost
  /** The https://host:port of the hub. */
  readonly hub: string
}

/** Opens a site that listens on its own private network, which no route from the outside reaches. */
async function openShop(place: Place, shop: string, host: TestHost): Promise<void> {
  const { directory, cloud, hub } = place
  for (const command of [
    ['ip', 'link', 'add', 'lan0', 'type', 'bridge'],
    ['ip', 'address', 'add', `${address}/24`, 'dev', 'lan0'],
    ['ip', 'link', 'set', 'lan0', 'up'],
  ]) {
    const { exitCode, stderr } = await host.run(command)
    assert.equal(exitCode, 0, stderr)
  }
  const hubDirectory = join(directory, 'hub')
  const joining = ['cluster', 'join-command', shop, '--data-dir', hubDirectory, '--server', hub]
  const printed = await cloud.run([...skerryCommand, ...joining, '-o', 'json'], { env: skerryEnv })
  assert.equal(printed.exitCode, 0, printed.stderr)
  const { token, caHash } = JSON.parse(printed.stdout)
  const tokenFile = join(directory, `${shop}.token`)
  await writeFile(tokenFile, token)
  const site = ['site', '--name', shop, '--data-dir', join(directory, shop)]
  const listening = ['--bind-address', address, '--service-cidr', serviceRange]
  const toHub = ['--hub', hub, '--hub-token-file', tokenFile, '--hub-ca-hash', caHash]
  const few = ['--disable-controller-manager', '--disable-scheduler']
  const command = [...skerryCommand, ...site, ...listening, ...toHub, ...few]
  const logFile = join(directory, `${shop}.log`)
  await new RoleProcess({ host, name: shop, command, logFile }).start()
}

test(
  'two sites with one address, one service range and the same names are two clusters',
  { skip, timeout: 200_000 },
  async () => {
    await using stack = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const network = stack.use(await createTestNetwork())
    const cloud = await network.addHost(1)
    const place = { directory, cloud, hub: `https://${cloud.address}:7443` }
    const command = [...skerryCommand, 'hub', '--data-dir', join(directory, 'hub')]
    await new RoleProcess({
      host: cloud,
      name: 'hub',
      command,
      logFile: join(directory, 'hub.log'),
    }).start()
    const { kubectl: program } = await unpackClients()
    const admin = join(directory, 'hub', 'admin.kubeconfig')
    await waitFor('the hub to serve', () => readFile(admin, 'utf8'))
    const hosts = [await network.addHost(2), await network.addHost(3)] as const
    await Promise.all(shops.map((shop, at) => openShop(place, shop, hosts[at === 0 ? 0 : 1])))
    const kubectl = async (shop: string, args: readonly string[]) => {
      const server = ['--server', `${place.hub}/clusters/${shop}`]
      const env = { HOME: directory, KUBECACHEDIR: join(directory, `cache-${shop}`) }
      const call = [program, '--kubeconfig', admin, ...server, ...args]
      return cloud.run(call, { env, timeoutMs: 60_000 })
    }
    const diagnose = async (): Promise<string> =>
      (
        await Promise.all(
          ['hub', ...shops].map((name) => readFile(join(directory, `${name}.log`), 'utf8')),
        )
      ).join('\n')
    for (const shop of shops) {
      const look = async () =>
        (await kubectl(shop, ['get', '--raw', '/readyz'])).stdout === 'ok' ? true : undefined
      await waitFor(`the tunnel of ${shop}`, look, { diagnose })
    }
    // The cloud has no route to that address, and the hub reaches both shops.
    const direct = await cloud.run([
      program,
      '--server',
      `https://${address}:6443`,
      'version',
      '--request-timeout=1s',
    ])
    assert.notEqual(direct.exitCode, 0)
    for (const shop of shops) {
      const literal = `--from-literal=shop=${shop}`
      const made = await kubectl(shop, ['create', 'configmap', 'till', literal])
      assert.equal(made.exitCode, 0, made.stderr)
    }
    for (const shop of shops) {
      const till = await kubectl(shop, ['get', 'configmap', 'till', '-o', 'jsonpath={.data.shop}'])
      assert.equal(till.stdout, shop, till.stderr)
      const service = await kubectl(shop, [
        'get',
        'service,endpointslice',
        '-o',
        'jsonpath={.items[*].spec.clusterIP} {.items[*].endpoints[*].addresses[*]}',
      ])
      assert.equal(service.stdout.split(' ')[0], '10.43.0.1', service.stderr)
    }
    const gone = await kubectl('oslo', ['delete', 'configmap', 'till'])
    assert.equal(gone.exitCode, 0, gone.stderr)
    const left = await kubectl('rome', ['get', 'configmap', 'till', '-o', 'name'])
    assert.equal(left.stdout.trim(), 'configmap/till', left.stderr)
  },
)
