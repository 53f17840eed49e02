import { open } from 'node:fs/promises'
import { hasCode } from '../system-error.ts'
import type { ContainerStatus } from '../cri/container-runtime.ts'
import { parseLogLine } from './log-line.ts'
import { runtimeAnnotations } from './runtime-labels.ts'
import { terminationMessageLimits } from '../limits-table.ts'

/** Returns the content of the container's message file or, if it requests that and failed, its last log lines. */
export async function terminationMessage(status: ContainerStatus): Promise<string> {
  const inContainer = status.annotations[runtimeAnnotations.terminationMessagePath]
  const mount = status.mounts.find(({ containerPath }) => containerPath === inContainer)
  const message = mount ? await readHead(mount.hostPath) : ''
  const policy = status.annotations[runtimeAnnotations.terminationMessagePolicy]
  if (message !== '' || policy !== 'FallbackToLogsOnError' || status.exitCode === 0) return message
  return tailOfLog(status.logPath)
}

async function readHead(path: string): Promise<string> {
  return readPart(path, { bytes: terminationMessageLimits.fileBytesMax, fromEnd: false })
}

async function tailOfLog(path: string): Promise<string> {
  const { logBytesMax, logLinesMax } = terminationMessageLimits
  const text = await readPart(path, { bytes: 4 * logBytesMax, fromEnd: true })
  const lines = text.split('\n').flatMap((line) => parseLogLine(line)?.text ?? [])
  const tail = lines.slice(-logLinesMax).join('')
  return tail.slice(-logBytesMax)
}

async function readPart(
  path: string,
  { bytes, fromEnd }: { bytes: number; fromEnd: boolean },
): Promise<string> {
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    const position = fromEnd ? Math.max(0, size - bytes) : 0
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position)
    return buffer.subarray(0, bytesRead).toString('utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}
