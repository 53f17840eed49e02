import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import {
  createMetrics,
  silentLogger,
  simulatedClock,
  systemClock,
  systemRandom,
} from '@skerry/base'
import {
  ensureClusterPki,
  issueClientCertificate,
  writeCertificateAndKey,
  type ClusterPki,
} from '@skerry/bootstrap'
import { inspectCertificateAndKey } from '@skerry/bootstrap'
import { readCertificate } from '@skerry/pki'
import { clockFaultOf, readRoleDirectories } from '../admin/certificate-list.ts'
import { bareRole, startControlPlane } from '../control-plane/control-plane.ts'
import { openRoleSocket } from '../runtime/role-socket.ts'
import { renewCertificates } from './renew-certificates.ts'
import { formatStatus, readStatus } from './status.ts'

const dayMs = 86_400_000
const rightMs = Date.UTC(2026, 10, 23)

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-certificates-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

function pkiAt(directory: string, nowMs = rightMs): Promise<ClusterPki> {
  const names = { dnsNames: ['localhost', 'site.example'], ipAddresses: ['127.0.0.1'] }
  return ensureClusterPki(
    { directory: join(directory, 'pki'), authorityName: 'site', ...names },
    { now: () => nowMs },
  )
}

/** Makes the files of a machine that runs a node, and a site whose agent has one virtual cluster. */
async function makeMachine(directory: string): Promise<void> {
  const site = join(directory, 'site')
  const { authority } = await pkiAt(site)
  const clients: readonly [path: string, commonName: string][] = [
    ['node/pki/kubelet-client', 'system:node:n1'],
    ['node/pki/kubelet-serving', 'system:node:n1'],
    ['node/pki/kubelet-serving.previous', 'system:node:n1'],
    ['site/agent/agent', 'system:karmada:agent:branch'],
    ['site/agent/clusters/branch-a/agent', 'system:karmada:agent:branch-a'],
  ]
  for (const [path, commonName] of clients) {
    const [certificatePath, keyPath] = ['crt', 'key'].map((end) =>
      join(directory, `${path}.${end}`),
    )
    const issued = await issueClientCertificate(
      authority,
      { subject: { commonName } },
      { now: () => rightMs },
    )
    await writeCertificateAndKey(
      { certificatePath: certificatePath ?? '', keyPath: keyPath ?? '' },
      issued,
    )
  }
  await writeFile(join(directory, 'node/pki/ca.crt'), authority.certificatePem)
  await writeFile(
    join(site, 'time.json'),
    `{"reckoned":"${new Date(rightMs).toISOString()}","doubtMs":0}\n`,
  )
}

async function statesAt(directory: string, nowMs: number): Promise<Record<string, string>> {
  const roles = await readRoleDirectories(directory, nowMs)
  const listed = roles.flatMap(({ certificates }) => certificates)
  return Object.fromEntries(listed.map(({ file, state }) => [relative(directory, file), state]))
}

test('each certificate of a machine is listed with its validity by the present clock', async () => {
  await inDirectory(async (directory) => {
    await makeMachine(directory)
    const authorities = ['site/pki/ca.crt', 'site/pki/front-proxy-ca.crt', 'node/pki/ca.crt']
    const leaves = [
      'site/pki/apiserver.crt',
      'site/pki/apiserver-kubelet-client.crt',
      'site/pki/admin.crt',
      'site/pki/front-proxy-client.crt',
      'site/agent/agent.crt',
      'site/agent/clusters/branch-a/agent.crt',
      'node/pki/kubelet-client.crt',
      'node/pki/kubelet-serving.crt',
      'node/pki/kubelet-serving.previous.crt',
    ]
    const table: readonly [days: number, leaf: string, authority: string][] = [
      [-1, 'not yet valid', 'good'],
      [0, 'good', 'good'],
      [300, 'good', 'good'],
      [330, 'ends soon', 'good'],
      [365, 'expired', 'good'],
      [3_300, 'expired', 'ends soon'],
      [3_651, 'expired', 'expired'],
    ]
    for (const [days, leaf, authority] of table) {
      const expected = Object.fromEntries([
        ...authorities.map((file) => [file, authority]),
        ...leaves.map((file) => [file, leaf]),
      ])
      assert.deepEqual(await statesAt(directory, rightMs + days * dayMs), expected, `${days} days`)
    }
    await writeFile(join(directory, 'site/pki/admin.key'), 'nothing')
    assert.equal((await statesAt(directory, rightMs))['site/pki/admin.crt'], 'damaged')
    const siteAlone = await statesAt(join(directory, 'site'), rightMs)
    assert.equal(siteAlone['pki/apiserver.crt'], 'good')
    const roles = await readRoleDirectories(directory, rightMs)
    assert.match(clockFaultOf(roles, rightMs - dayMs) ?? '', /it is behind; set the clock/)
    assert.equal(clockFaultOf(roles, rightMs + dayMs), undefined)
  })
})

test('a directory without certificates is named, with the one that is meant', async () => {
  await inDirectory(async (directory) => {
    await assert.rejects(readRoleDirectories(directory, rightMs), /pass --data-dir with/)
  })
})

test('a stopped site gets other certificates from its authority, for the same names, even in place of damaged ones', async () => {
  await inDirectory(async (directory) => {
    await makeMachine(directory)
    const site = join(directory, 'site')
    const before = await pkiAt(site)
    await writeFile(join(site, 'pki/front-proxy-client.key'), 'nothing')
    const { renewed, failures, left } = await renewCertificates(directory, {
      clock: simulatedClock(rightMs + dayMs),
    })
    assert.deepEqual(failures, [])
    assert.deepEqual(renewed, [{ directory: site, isRunning: false, count: 4 }])
    // A start at this point finds all of them valid, and issues none.
    const names = ['apiserver', 'apiserver-kubelet-client', 'admin', 'front-proxy-client', 'ca']
    const read = (name: string): Promise<string> =>
      readFile(join(site, 'pki', `${name}.crt`), 'utf8')
    const texts = await Promise.all(names.map(read))
    const after = await pkiAt(site, rightMs + dayMs)
    assert.deepEqual(await Promise.all(names.map(read)), texts)
    assert.equal(after.authority.certificatePem, before.authority.certificatePem)
    const [old, next] = [before.serving, after.serving].map((each) =>
      readCertificate(each.certificatePem),
    )
    assert.deepEqual(next?.dnsNames, old?.dnsNames)
    assert.equal((next?.notAfterMs ?? 0) - (old?.notAfterMs ?? 0), dayMs)
    const advice = left.map(({ listed, advice: text }) => [relative(directory, listed.file), text])
    assert.deepEqual(advice, [
      ['site/pki/ca.crt', 'an authority is not issued again'],
      ['site/pki/front-proxy-ca.crt', 'an authority is not issued again'],
      ['site/agent/agent.crt', 'its hub issues it, and the agent asks in time'],
      ['site/agent/clusters/branch-a/agent.crt', 'its hub issues it, and the agent asks in time'],
      ['node/pki/kubelet-client.crt', 'its site issues it, and the node asks in time'],
      ['node/pki/kubelet-serving.crt', 'its site issues it, and the node asks in time'],
      ['node/pki/ca.crt', 'an authority is not issued again'],
    ])
  })
})

test('the kubeconfig of skerry up gets the new administrator of the hub', async () => {
  await inDirectory(async (directory) => {
    const hub = join(directory, 'hub')
    await pkiAt(hub)
    const settings = { clusterName: 'edge', hubPort: 1, sitePort: 2, runDir: directory }
    await writeFile(join(directory, 'settings.json'), JSON.stringify(settings))
    await renewCertificates(directory, { clock: simulatedClock(rightMs + dayMs) })
    const { admin } = await pkiAt(hub, rightMs + dayMs)
    const kubeconfig = await readFile(join(directory, 'kubeconfig'), 'utf8')
    assert.ok(kubeconfig.includes(Buffer.from(admin.certificatePem).toString('base64')))
  })
})

test('a renewal leaves expired certificates of other issuers alone, and gives a remedy for each', async () => {
  await inDirectory(async (directory) => {
    await makeMachine(directory)
    const clock = simulatedClock(rightMs + 400 * dayMs)
    const { left } = await renewCertificates(directory, { clock })
    const advice = left.map(({ advice: text }) => text).join('\n')
    assert.match(advice, /"skerry token create", and start the node with --token-file/)
    assert.match(advice, /run "skerry cluster join-command branch" at the hub/)
  })
})

test('a running control plane issues its certificates again when asked, and shows the new one at once', async () => {
  await inDirectory(async (parent) => {
    const directory = join(parent, 'site')
    const stopping = new AbortController()
    await using plane = await startControlPlane(
      {
        directory,
        authorityName: 'test',
        listening: { bindAddress: '127.0.0.1', port: 0 },
        sans: () => ['127.0.0.1'],
      },
      bareRole,
      {
        clock: systemClock,
        random: systemRandom,
        log: silentLogger,
        metrics: createMetrics(),
        signal: stopping.signal,
      },
    )
    const told: ClusterPki[] = []
    plane.onRenewed(async (pki) => void told.push(pki))
    await using _socket = await openRoleSocket(join(directory, 'backup.sock'), plane)
    const before = await shownBy(plane.server.address, plane.pki.authority.certificatePem)
    const { renewed } = await renewCertificates(parent, { clock: systemClock })
    assert.deepEqual(renewed, [{ directory, isRunning: true, count: 4 }])
    const after = await shownBy(plane.server.address, plane.pki.authority.certificatePem)
    assert.notEqual(after, before)
    assert.equal(told.length, 1)
    const { pair: admin } = await inspectCertificateAndKey({
      certificatePath: join(directory, 'pki/admin.crt'),
      keyPath: join(directory, 'pki/admin.key'),
    })
    assert.deepEqual(told[0]?.admin, admin)
  })
})

/** Returns the serial number of the certificate that a client sees which trusts only the authority. */
async function shownBy(address: string, ca: string): Promise<string> {
  const { hostname: host, port } = new URL(address)
  const socket = connect({ host, port: Number(port), ca })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

test('status names certificates that are off, and has no line for good ones', async () => {
  await inDirectory(async (directory) => {
    const nowMs = Date.now()
    const site = join(directory, 'site')
    await mkdir(site)
    const settings = { clusterName: 'edge', hubPort: 1, sitePort: 2, runDir: directory }
    await writeFile(join(directory, 'settings.json'), JSON.stringify(settings))
    await pkiAt(site, nowMs)
    const linesOf = async (): Promise<string[]> => {
      const report = await readStatus(directory)
      return formatStatus(report, nowMs)
        .split('\n')
        .filter((line) => /^(certificate|clock) /.test(line))
    }
    assert.deepEqual(await linesOf(), [])
    await rm(join(site, 'pki'), { recursive: true })
    await pkiAt(site, nowMs - 400 * dayMs)
    const reckoned = new Date(nowMs + dayMs).toISOString()
    await writeFile(join(site, 'time.json'), `{"reckoned":"${reckoned}","doubtMs":0}\n`)
    const lines = await linesOf()
    assert.equal(lines.length, 5)
    assert.match(lines[0] ?? '', /^clock +off .*it is behind; set the clock$/)
    assert.match(
      lines[1] ?? '',
      /^certificate +site\/pki\/apiserver\.crt +expired .*API server; see "skerry certificates list"$/,
    )
  })
})
