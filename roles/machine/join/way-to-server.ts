import { Socket } from 'node:net'
import { connectByTcp, destinationOf, type Connect } from '@skerry/base'
import { proxyFiles, proxyTexts, type OwnMachineContext } from '@skerry/provisioning'
import { readProxyLogin } from '../../runtime/read-proxy-login.ts'
import { wayToHub } from '../../runtime/way-to-hub.ts'
import { machineBounds } from '../limits-table.ts'
import type { JoinOptions } from './join-options.ts'
import type { JoinDeps } from './own-machine.ts'

/** Returns the way of a machine to its hub. A site is reached directly. */
export async function connectToHub(
  { server, way }: Pick<JoinOptions, 'server' | 'way'>,
  { clock }: Pick<JoinDeps, 'clock'>,
): Promise<Connect> {
  const { proxy, proxyCredentialsFile, isInspected } = way
  const flags = { proxy, proxyCredentialsFile, inspectedTls: isInspected }
  // The line alone says how the hub is reached, as it does for the units.
  const { connect } = await wayToHub(server, flags, { clock, environment: {} })
  return connect
}

/** Returns the way of a node to its site: over TCP. */
export function directly({ clock }: Pick<JoinDeps, 'clock'>): ReturnType<typeof connectByTcp> {
  return connectByTcp({ timeoutMs: machineBounds.askServer.answerMs, clock })
}

/** Resolves with the address of this machine from which its connections to a URL leave. */
export async function addressOnWayTo(
  url: string,
  { clock, signal }: Pick<JoinDeps, 'clock' | 'signal'>,
): Promise<string> {
  const socket = await directly({ clock })(destinationOf(new URL(url)), signal)
  const { localAddress = '' } = socket instanceof Socket ? socket : {}
  socket.destroy()
  return localAddress.replace(/^::ffff:/, '')
}

/**
 * Writes the proxy for the units and for apt. Resolves with apt's file; with undefined if the line names no proxy, so
 * that what an operator has set stays.
 */
export async function writeProxyFiles(
  { way }: Pick<JoinOptions, 'way'>,
  context: OwnMachineContext,
): Promise<string | undefined> {
  const { proxy, proxyCredentialsFile: file } = way
  if (proxy === undefined) return undefined
  const login = file === undefined ? undefined : await readProxyLogin(file)
  const known = login && { username: login.user, password: login.password }
  const { environment, apt } = proxyTexts(known, context)
  await context.shell.write(proxyFiles.environment, environment, 0o600)
  await context.shell.write(proxyFiles.apt, apt, 0o600)
  return proxyFiles.apt
}
