/** Runs `skerry reset --yes` and ends it as a power cut would, before the step that it is given. */
import { runReset } from '../../roles/up/reset.ts'

const [dataDir = '', lastStep = ''] = process.argv.slice(2)
const onStep = (step: string): void => {
  if (step === lastStep) process.kill(process.pid, 'SIGKILL')
}
await runReset({ dataDir, isConfirmed: true, onStep }, AbortSignal.timeout(120_000))
