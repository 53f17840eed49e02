import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes, silentLogger } from '@skerry/base'
import { dialContainerd, logBytesMax, readHeldPods, type HeldPod } from '@skerry/kubelet'
import { readRoleDirectories } from '../../admin/certificate-list.ts'
import { containerdSocket } from '../../node/node-containerd.ts'
import { clientBounds } from '../limits-table.ts'
import { planDrill, type DrillFacts } from './drill-plan.ts'
import { printFindings } from './print-findings.ts'

export interface DrillOptions {
  readonly dataDir: string
  readonly runDir: string
  readonly days: number
  readonly output: string | undefined
}

const dayMs = 86_400_000
const { imagesMs } = clientBounds.drill

/** Prints what an absence of the control plane would do to this machine's node and its pods. It changes nothing. */
export async function printDrill({ dataDir, runDir, days, output }: DrillOptions): Promise<void> {
  const nowMs = Date.now()
  const findings = planDrill(await readFacts({ dataDir, runDir }), nowMs, nowMs + days * dayMs)
  printFindings(findings, output)
}

async function readFacts({
  dataDir,
  runDir,
}: Pick<DrillOptions, 'dataDir' | 'runDir'>): Promise<DrillFacts> {
  const roles = await readRoleDirectories(dataDir, Date.now())
  const node = roles.find(({ kind }) => kind === 'node')
  if (node === undefined) {
    throw new ExpectedError(
      `Cannot drill: ${dataDir} has no node; pass --data-dir with that of "skerry node"`,
      exitCodes.dataDirectory,
    )
  }
  const pods = await readHeldPods(join(node.path, 'kubelet'), silentLogger)
  const disk = await statfs(node.path)
  return {
    pods,
    missingImages: await missingImages(pods, containerdSocket(runDir)),
    certificates: node.certificates
      .filter(({ renewal }) => renewal === 'node')
      .flatMap(({ for: name, certificate }) =>
        certificate ? [{ name: `“${name}”`, endsMs: certificate.notAfterMs }] : [],
      ),
    logs: { freeBytes: disk.bavail * disk.bsize, bytesPerContainer: logBytesMax },
  }
}

async function missingImages(
  pods: readonly HeldPod[],
  socket: string,
): Promise<ReadonlySet<string> | undefined> {
  const signal = AbortSignal.timeout(imagesMs)
  const named = pods.flatMap(({ pod: { spec } }) =>
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap(
      ({ image }) => image ?? [],
    ),
  )
  const missing = new Set<string>()
  await using runtime = dialContainerd(socket)
  try {
    for (const image of new Set(named)) {
      if ((await runtime.imageStatus(image, signal)) === undefined) missing.add(image)
    }
    return missing
  } catch {
    // The finding of the node says so.
    return undefined
  }
}
