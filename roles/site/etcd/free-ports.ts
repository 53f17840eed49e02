import { createServer } from 'node:net'
import { ExpectedError, exitCodes } from '@skerry/base'
import { codeOf } from '../../runtime/data-directory.ts'
import { portOf } from './embedded-options.ts'

/**
 * Throws ExpectedError that names the option if another program has one of a member's ports, e.g. the service of a
 * distribution's etcd. etcd itself ends, and says why in its log.
 */
export async function requireFreePorts(member: {
  readonly bindAddress: string
  readonly clientUrl: string
  readonly peerUrl: string
}): Promise<void> {
  const { bindAddress, clientUrl, peerUrl } = member
  const wanted = [
    ['--etcd-client-port', clientUrl],
    ['--etcd-peer-port', peerUrl],
  ] as const
  for (const [option, url] of wanted) {
    const port = portOf(url)
    if (await isFree(bindAddress, port)) continue
    throw new ExpectedError(
      `Cannot start etcd: port ${port} is taken by another program; stop that one, such as an etcd.service of the system, or pass another ${option}`,
      exitCodes.portTaken,
    )
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    // etcd reports anything else, such as an address that this machine does not have.
    probe.once('error', (error) => resolve(codeOf(error) !== 'EADDRINUSE'))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
}
