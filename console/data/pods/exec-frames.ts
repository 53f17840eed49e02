/** Messages of Kubernetes' exec over a WebSocket, subprotocol v5.channel.k8s.io: one byte names the channel. Pure. */

export const execProtocol = 'v5.channel.k8s.io'

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

export type ExecMessage =
  | { readonly is: 'output'; readonly bytes: Uint8Array }
  | { readonly is: 'end'; readonly exitCode: number; readonly message: string }

export function stdinMessage(text: string): Uint8Array<ArrayBuffer> {
  return message(channels.stdin, new TextEncoder().encode(text))
}

export function resizeMessage(columns: number, rows: number): Uint8Array<ArrayBuffer> {
  const size = JSON.stringify({ Width: columns, Height: rows })
  return message(channels.resize, new TextEncoder().encode(size))
}

function message(channel: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(payload.length + 1)
  bytes[0] = channel
  bytes.set(payload, 1)
  return bytes
}

/** Returns undefined for a message of a channel that carries nothing to us. */
export function readExecMessage(data: ArrayBuffer): ExecMessage | undefined {
  const bytes = new Uint8Array(data)
  const [channel] = bytes
  const payload = bytes.subarray(1)
  if (channel === channels.stdout || channel === channels.stderr) {
    return { is: 'output', bytes: payload }
  }
  return channel === channels.error ? readEnd(new TextDecoder().decode(payload)) : undefined
}

interface EndStatus {
  readonly status?: unknown
  readonly message?: unknown
  readonly details?: { readonly causes?: readonly { reason?: string; message?: string }[] }
}

function readEnd(text: string): ExecMessage {
  let status: EndStatus
  try {
    // A Kubernetes Status, of which only checked members are read.
    status = JSON.parse(text) as EndStatus
  } catch {
    return { is: 'end', exitCode: -1, message: text }
  }
  if (status.status === 'Success') return { is: 'end', exitCode: 0, message: '' }
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  const said = typeof status.message === 'string' ? status.message : ''
  return { is: 'end', exitCode: code === undefined ? -1 : Number(code), message: said }
}

/** Returns the address of a shell: bash if the container has it, and sh otherwise. */
export function shellPath(podPath: string, container: string): string {
  const query = new URLSearchParams({
    container,
    stdin: 'true',
    stdout: 'true',
    tty: 'true',
  })
  const script = 'command -v bash >/dev/null 2>&1 && exec bash; exec sh'
  for (const word of ['sh', '-c', script]) query.append('command', word)
  return `${podPath}/exec?${query.toString()}`
}
