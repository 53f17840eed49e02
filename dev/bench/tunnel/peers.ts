import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../processes/free-port.ts'
import { pkcs12Password } from './certificates.ts'
import { startOurs } from './ours.ts'
import { startRelay } from './relay.ts'
import { pidsOf, targetEntry, type Processes, type Site, type SubjectStart } from './subject.ts'

/** Every measured way. The target and the client are the same for all. */
export const subjects: Readonly<Record<string, SubjectStart>> = Object.freeze({
  ours: startOurs,
  async direct(site) {
    const to = { host: site.edgeAddress, port: site.targetPort }
    return { entry: await targetEntry(site, to) }
  },
  relay: startRelay,
  konnectivity: startKonnectivity,
  'konnectivity-grpc': startKonnectivityGrpc,
  frp: startFrp,
  chisel: startChisel,
  rathole: startRathole,
})

const token = 'bench'

/** Starts it as kube-apiserver uses it on its own host: http-connect over a Unix socket. */
async function startKonnectivity(...[site, processes]: Parameters<SubjectStart>) {
  const { server, agent, path } = await startKonnectivityEnds(site, processes, 'http-connect')
  const entry = await targetEntry(site, { path }, `127.0.0.1:${site.targetPort}`)
  return { entry, ...pidsOf({ cloud: server, edge: agent }) }
}

/** Starts konnectivity over gRPC, with its own client: one stream for each connection. */
async function startKonnectivityGrpc(...[site, processes]: Parameters<SubjectStart>) {
  const { server, path } = await startKonnectivityEnds(site, processes, 'grpc')
  const socket = join(site.directory, 'relay.socket')
  const target = `127.0.0.1:${site.targetPort}`
  await processes.start('relay', [join(site.bin, 'konnectivity-relay'), path, socket, target])
  return { entry: await targetEntry(site, { path: socket }), ...pidsOf({ cloud: server }) }
}

async function startKonnectivityEnds(
  { directory, bin, cloudAddress, edge }: Site,
  processes: Processes,
  mode: 'http-connect' | 'grpc',
) {
  const file = (name: string): string => join(directory, name)
  const path = file('konnectivity.socket')
  const agentPort = await freePort()
  const server = await processes.start('proxy-server', [
    join(bin, 'proxy-server'),
    ...flags({
      mode,
      'uds-name': path,
      'server-port': '0',
      'agent-port': String(agentPort),
      'agent-bind-address': cloudAddress,
      'admin-port': String(await freePort()),
      'health-port': String(await freePort()),
      'cluster-cert': file('server.crt'),
      'cluster-key': file('server.key'),
      'cluster-ca-cert': file('ca.crt'),
    }),
  ])
  const agentFlags = flags({
    'proxy-server-host': cloudAddress,
    'proxy-server-port': String(agentPort),
    'ca-cert': file('ca.crt'),
    'agent-cert': file('client.crt'),
    'agent-key': file('client.key'),
    'admin-server-port': String(await freePort()),
    'health-server-port': String(await freePort()),
    'sync-interval': '1s',
    'sync-interval-cap': '2s',
  })
  const command = [...edge, join(bin, 'proxy-agent'), ...agentFlags]
  const agent = await processes.start('proxy-agent', command)
  return { server, agent, path }
}

async function startFrp(...[site, processes]: Parameters<SubjectStart>) {
  const { directory, bin, cloudAddress, edge } = site
  const [bindPort, remotePort] = [await freePort(), await freePort()]
  const file = (name: string): string => JSON.stringify(join(directory, name))
  const serverConfig = await write(site, 'frps.toml', [
    `bindAddr = "${cloudAddress}"`,
    `bindPort = ${bindPort}`,
    `auth.token = "${token}"`,
    'transport.tls.force = true',
    `transport.tls.certFile = ${file('server.crt')}`,
    `transport.tls.keyFile = ${file('server.key')}`,
    `transport.tls.trustedCaFile = ${file('ca.crt')}`,
  ])
  const clientConfig = await write(site, 'frpc.toml', [
    `serverAddr = "${cloudAddress}"`,
    `serverPort = ${bindPort}`,
    'loginFailExit = false',
    `auth.token = "${token}"`,
    `transport.tls.certFile = ${file('client.crt')}`,
    `transport.tls.keyFile = ${file('client.key')}`,
    `transport.tls.trustedCaFile = ${file('ca.crt')}`,
    'transport.tls.serverName = "localhost"',
    '[[proxies]]',
    'name = "target"',
    'type = "tcp"',
    'localIP = "127.0.0.1"',
    `localPort = ${site.targetPort}`,
    `remotePort = ${remotePort}`,
  ])
  const server = await processes.start('frps', [join(bin, 'frps'), '-c', serverConfig])
  await processes.start('frpc', [...edge, join(bin, 'frpc'), '-c', clientConfig])
  return {
    entry: await targetEntry(site, { host: cloudAddress, port: remotePort }),
    ...pidsOf({ cloud: server }),
  }
}

/** Starts SSH within a WebSocket. SSH encrypts, so there is no TLS around it, as in chisel's manual. */
async function startChisel(...[site, processes]: Parameters<SubjectStart>) {
  const { bin, cloudAddress, edge } = site
  const [port, remotePort] = [await freePort(), await freePort()]
  const env = { AUTH: `bench:${token}` }
  const serverFlags = ['--reverse', '--host', cloudAddress, '--port', String(port)]
  const server = await processes.start(
    'chisel-server',
    [join(bin, 'chisel'), 'server', ...serverFlags],
    env,
  )
  const remote = `R:${cloudAddress}:${remotePort}:127.0.0.1:${site.targetPort}`
  const url = `http://${cloudAddress}:${port}`
  await processes.start(
    'chisel-client',
    [...edge, join(bin, 'chisel'), 'client', '--max-retry-interval', '2s', url, remote],
    env,
  )
  return {
    entry: await targetEntry(site, { host: cloudAddress, port: remotePort }),
    ...pidsOf({ cloud: server }),
  }
}

async function startRathole(...[site, processes]: Parameters<SubjectStart>) {
  const { directory, bin, cloudAddress, edge } = site
  const [port, remotePort] = [await freePort(), await freePort()]
  const file = (name: string): string => JSON.stringify(join(directory, name))
  const serverConfig = await write(site, 'rathole-server.toml', [
    '[server]',
    `bind_addr = "${cloudAddress}:${port}"`,
    `default_token = "${token}"`,
    '[server.transport]',
    'type = "tls"',
    '[server.transport.tls]',
    `pkcs12 = ${file('server.pfx')}`,
    `pkcs12_password = "${pkcs12Password}"`,
    '[server.services.target]',
    `bind_addr = "${cloudAddress}:${remotePort}"`,
  ])
  const clientConfig = await write(site, 'rathole-client.toml', [
    '[client]',
    `remote_addr = "${cloudAddress}:${port}"`,
    `default_token = "${token}"`,
    '[client.transport]',
    'type = "tls"',
    '[client.transport.tls]',
    `trusted_root = ${file('ca.crt')}`,
    'hostname = "localhost"',
    '[client.services.target]',
    `local_addr = "127.0.0.1:${site.targetPort}"`,
  ])
  const server = await processes.start('rathole-server', [
    join(bin, 'rathole'),
    '--server',
    serverConfig,
  ])
  await processes.start('rathole-client', [...edge, join(bin, 'rathole'), '--client', clientConfig])
  return {
    entry: await targetEntry(site, { host: cloudAddress, port: remotePort }),
    ...pidsOf({ cloud: server }),
  }
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`)
}

async function write(site: Site, name: string, lines: readonly string[]): Promise<string> {
  const path = join(site.directory, name)
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
  return path
}
