import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { isStatusError, type ConfigMap, type Namespace, type Service } from '@skerry/api'
import {
  exitCodes,
  seededRandom,
  silentLogger,
  unlessAborted,
  type ExpectedError,
  type Logger,
} from '@skerry/base'
import { parseKubeconfig, readBody, resources } from '@skerry/client'
import { startTestEtcd, until, whyNoEtcd, type TestEtcd } from '@skerry/testing'
import { siteKubeconfig } from '../../client/kubeconfig/site-kubeconfig.ts'
import { startTestMaster, type TestMaster } from '../../../testing/scenes/test-masters.ts'

const skip = await whyNoEtcd()
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = 'default'

interface Masters extends AsyncDisposable {
  readonly etcd: TestEtcd
  readonly first: TestMaster
  readonly second: TestMaster
}

async function startMasters({
  leads = false,
  log = silentLogger,
  controlPlaneEndpoint,
}: { leads?: boolean; log?: Logger; controlPlaneEndpoint?: string } = {}): Promise<Masters> {
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startTestEtcd())
  const shared = { etcd, leads, log, controlPlaneEndpoint }
  const first = stack.use(await startTestMaster({ ...shared, advertiseAddress: '192.0.2.1' }))
  const second = stack.use(
    await startTestMaster({ ...shared, beside: first, advertiseAddress: '192.0.2.2' }),
  )
  const owned = stack.move()
  return { etcd, first, second, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function serviceNamed(name: string, wants: { address?: string; port?: number }): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: {
      type: 'NodePort',
      ports: [{ port: 80, ...(wants.port === undefined ? {} : { nodePort: wants.port }) }],
      ...(wants.address === undefined ? {} : { clusterIP: wants.address }),
    },
  }
}

/** Returns the items that more than one service has. */
function doubles(services: readonly Service[]): string[] {
  const items = services.flatMap(({ spec }) => [
    spec?.clusterIP ?? '',
    ...(spec?.ports ?? []).flatMap(({ nodePort }) => (nodePort ? `port ${nodePort}` : [])),
  ])
  return items.filter((item, at) => items.indexOf(item) !== at)
}

test(
  'two masters that create services at once never give an address or a node port twice',
  { skip },
  async () => {
    await using masters = await startMasters()
    const clients = [masters.first, masters.second].map(({ cluster }) =>
      cluster.resource(resources.services),
    )
    const random = seededRandom(7)
    const refusals: string[] = []
    const create = async (at: number): Promise<void> => {
      // Half of them ask for one of few addresses and ports, so that the masters meet.
      const few = Math.floor(random.next() * 25)
      const wants =
        at % 2 === 0 ? {} : { address: `10.43.0.${100 + few}`, port: 30_100 + (few % 13) }
      try {
        await clients[at % 4 < 2 ? 0 : 1]?.create(serviceNamed(`s-${at}`, wants), soon())
      } catch (error) {
        if (!isStatusError(error, 'Invalid')) throw error
        refusals.push(error.message)
      }
    }
    await Promise.all(Array.from({ length: 200 }, (_, at) => create(at)))
    const { items } = await masters.first.cluster.resource(resources.services).list({}, soon())
    assert.deepEqual(doubles(items), [])
    const made = items.filter(({ metadata }) => metadata.name?.startsWith('s-'))
    assert.equal(made.length + refusals.length, 200)
    // Nobody who asked for nothing in particular is refused, and each port that was asked for is given once.
    assert.ok(made.length >= 110, `${made.length} were made`)
    for (const text of refusals) assert.match(text, /provided (IP|port) is already allocated/)
    const addresses = await masters.second.cluster.resource(resources.ipAddresses).list({}, soon())
    const holders = new Map(
      addresses.items.map(({ metadata, spec }) => [metadata.name, spec?.parentRef?.name]),
    )
    for (const { metadata, spec } of items) {
      assert.equal(holders.get(spec?.clusterIP), metadata.name, `${spec?.clusterIP}`)
    }
    assert.equal(holders.size, items.length, 'no address of a refused service stays taken')
  },
)

test(
  'an address that a service gives back at one master is given out by the other at once',
  { skip },
  async () => {
    await using masters = await startMasters()
    const [one, two] = [masters.first, masters.second].map(({ cluster }) =>
      cluster.resource(resources.services),
    )
    assert.ok(one && two)
    const wants = { address: '10.43.0.200', port: 30_200 }
    for (let round = 0; round < 20; round += 1) {
      const [here, there] = round % 2 === 0 ? [one, two] : [two, one]
      await here.create(serviceNamed('wanderer', wants), soon())
      await assert.rejects(there.create(serviceNamed('late', wants), soon()), /already allocated/)
      await there.delete({ namespace, name: 'wanderer' }, soon())
    }
  },
)

test(
  'a write that one master has acknowledged is shown by another one to the next reader',
  { skip },
  async () => {
    await using masters = await startMasters()
    const mapsOf = ({ cluster }: TestMaster) => cluster.resource(resources.configMaps)
    const [one, two] = [mapsOf(masters.first), mapsOf(masters.second)]
    const key = { namespace, name: 'counter' }
    let known: ConfigMap = await one.create(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key }, data: { n: '0' } },
      soon(),
    )
    for (let n = 1; n <= 500; n += 1) {
      const [writer, reader] = n % 2 === 0 ? ([one, two] as const) : ([two, one] as const)
      known = await writer.update({ ...known, data: { n: String(n) } }, soon())
      // A reader that moved from one master to another brings the version that it saw there.
      const atLeast = n % 4 === 3 ? { resourceVersion: known.metadata.resourceVersion ?? '' } : {}
      const found =
        n % 4 < 2
          ? await reader.get(key, soon())
          : (await reader.list({ namespace, ...atLeast }, soon())).items.find(
              ({ metadata }) => metadata.name === key.name,
            )
      assert.equal(found?.data?.['n'], String(n))
    }
  },
)

test('the service kubernetes has each master that lives as an endpoint', { skip }, async () => {
  await using masters = await startMasters()
  const { first, second } = masters
  const addresses = async ({ cluster }: TestMaster): Promise<string> => {
    const { items } = await cluster.resource(resources.endpointSlices).list({ namespace }, soon())
    const ours = items.filter(
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'kubernetes',
    )
    return ours
      .flatMap(({ endpoints }) => (endpoints ?? []).flatMap((each) => each.addresses))
      .toSorted()
      .join()
  }
  await until(async () => (await addresses(first)) === '192.0.2.1,192.0.2.2')
  // An endpoint that somebody removes comes back.
  const key = { namespace, name: 'kubernetes' }
  await first.cluster.resource(resources.endpointSlices).delete(key, soon())
  await until(async () => (await addresses(second)) === '192.0.2.1,192.0.2.2')
  await second[Symbol.asyncDispose]()
  await until(async () => (await addresses(first)) === '192.0.2.1', AbortSignal.timeout(5_000))
})

test('one master leads, and another takes over within 5 s when it stops', { skip }, async () => {
  await using masters = await startMasters({ leads: true })
  const leaseOf = ({ cluster }: TestMaster) =>
    cluster
      .resource(resources.leases)
      .get({ namespace: 'kube-system', name: 'kube-controller-manager' }, soon())
  await until(async () => (await leaseOf(masters.second)).spec?.holderIdentity)
  const before = (await leaseOf(masters.second)).spec?.holderIdentity
  await masters.first[Symbol.asyncDispose]()
  const stopped = performance.now()
  const isDone = async (): Promise<boolean> => {
    const accounts = masters.second.cluster.resource(resources.serviceAccounts)
    const { items } = await accounts.list({ namespace: 'after' }, soon())
    return items.length === 1
  }
  await masters.second.cluster
    .resource(resources.namespaces)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'after' } }, soon())
  await until(isDone)
  const tookMs = performance.now() - stopped
  assert.ok(tookMs < 5_000, `${tookMs} ms`)
  const { spec } = await leaseOf(masters.second)
  assert.notEqual(spec?.holderIdentity, before)
})

test('the kubeconfig of a site has a context for each master', { skip }, async () => {
  await using masters = await startMasters()
  const text = await siteKubeconfig(masters.second.dataDir, soon())
  const { contexts, clusters } = parseKubeconfig(text, 'test')
  const servers = (clusters ?? []).map(({ cluster }) => new URL(cluster.server ?? '').hostname)
  assert.deepEqual(servers.toSorted(), ['192.0.2.1', '192.0.2.2'])
  assert.equal(new Set((contexts ?? []).map(({ name }) => name)).size, 2)
  assert.match(text, /client-key-data/)
})

test(
  'a site with an address before its masters names it first to nodes and in kubeconfigs, and in its certificates',
  { skip },
  async () => {
    await using masters = await startMasters({ controlPlaneEndpoint: 'api.shop.example:443' })
    const { dataDir } = masters.second
    const config = parseKubeconfig(await siteKubeconfig(dataDir, soon()), 'test')
    const servers = (config.clusters ?? []).map(({ cluster }) => cluster.server)
    assert.equal(servers[0], 'https://api.shop.example:443')
    assert.equal(servers.length, 3)
    assert.equal(config['current-context'], config.contexts?.[0]?.name)
    const pem = await readFile(join(dataDir, 'pki', 'apiserver.crt'))
    assert.match(new X509Certificate(pem).subjectAltName ?? '', /DNS:api\.shop\.example/)
    const program = join(import.meta.dirname, '../../../cmd/skerry.ts')
    const asked = [program, 'token', 'create', '--print-join-command', '--data-dir', dataDir]
    const { stdout } = await promisify(execFile)(process.execPath, asked, { signal: soon() })
    assert.match(
      stdout,
      / skerry node --server https:\/\/api\.shop\.example:443 --server https:\/\/192\.0\.2\.[12]:\d+ --server https:\/\/192/,
    )
  },
)

test(
  "a master's certificate has its own address and the names that all share",
  { skip },
  async () => {
    await using masters = await startMasters()
    for (const [master, address] of [
      [masters.first, '192.0.2.1'],
      [masters.second, '192.0.2.2'],
    ] as const) {
      const pem = await readFile(join(master.dataDir, 'pki', 'apiserver.crt'))
      const { subjectAltName = '' } = new X509Certificate(pem)
      const names = ['kubernetes.default.svc.cluster.local', '10.43.0.1', '127.0.0.1', address]
      for (const name of names)
        assert.ok(subjectAltName.includes(name), `${name}: ${subjectAltName}`)
    }
  },
)

test(
  'a master without the key of the others is refused, and names the file',
  { skip },
  async () => {
    await using etcd = await startTestEtcd()
    await using _first = await startTestMaster({ etcd, advertiseAddress: '192.0.2.1' })
    await assert.rejects(
      startTestMaster({ etcd, advertiseAddress: '192.0.2.2' }),
      (error: ExpectedError) =>
        error.exitCode === exitCodes.dataDirectory && /--replica-key-file/.test(error.message),
    )
  },
)

test('a master with another range of services than the others is refused', { skip }, async () => {
  await using etcd = await startTestEtcd()
  await using first = await startTestMaster({ etcd, advertiseAddress: '192.0.2.1' })
  const serviceCidr = '10.44.0.0/16'
  await assert.rejects(
    startTestMaster({ etcd, beside: first, advertiseAddress: '192.0.2.2', serviceCidr }),
    /--service-cidr 10\.44\.0\.0\/16: the master at 192\.0\.2\.1 has 10\.43\.0\.0\/16/,
  )
})

test(
  'masters whose etcd was away for longer than the lease lead again, and none of them ends',
  { skip },
  async () => {
    const messages: string[] = []
    const log: Logger = {
      ...silentLogger,
      info: (message) => void messages.push(message),
      child: () => log,
    }
    await using masters = await startMasters({ leads: true, log })
    await until(() => messages.includes('Became leader'))
    await masters.etcd.kill()
    await until(() => messages.includes('Lost leadership'))
    await masters.etcd.start()
    const namespace: Namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'after' },
    }
    const { cluster } = masters.first
    await until(async () => {
      try {
        await cluster.resource(resources.namespaces).create(namespace, soon())
        return true
      } catch (error) {
        return isStatusError(error, 'AlreadyExists')
      }
    })
    await until(async () => {
      const accounts = cluster.resource(resources.serviceAccounts)
      return (await accounts.list({ namespace: 'after' }, soon())).items.length === 1
    })
  },
)

test('a master whose etcd is gone says so, and stops, within seconds', { skip }, async () => {
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startTestEtcd())
  const options = { etcd, leads: true, advertiseAddress: '192.0.2.1' }
  const master = stack.use(await startTestMaster(options))
  const leases = master.cluster.resource(resources.leases)
  const key = { namespace: 'kube-system', name: 'kube-controller-manager' }
  await until(async () => (await leases.get(key, soon()).catch(() => undefined)) !== undefined)
  await etcd.kill()
  // etcd is looked for during ten seconds, by one request after the other.
  for (let asked = 0; asked < 2; asked += 1) {
    const request = { method: 'GET', path: '/readyz', headers: {} } as const
    const { status, body } = await master.transport.send(request, AbortSignal.timeout(6_000))
    assert.match((await readBody(body)).toString(), /^\[-\]store failed/m)
    assert.equal(status, 500)
  }
  await unlessAborted(Promise.resolve(master[Symbol.asyncDispose]()), AbortSignal.timeout(8_000))
})
