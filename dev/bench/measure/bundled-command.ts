import { engineFlags } from '../../../roles/runtime/engine-flags.ts'
import { launcherEnvironment } from '../../processes/launcher-environment.ts'

/** Returns the command of a bundled program as its launcher starts it for that role. */
export async function bundledCommand(
  role: string,
  { program, compileCache }: { readonly program: string; readonly compileCache: string },
): Promise<string[]> {
  const environment = {
    ...(await launcherEnvironment(role)),
    NODE_COMPILE_CACHE: compileCache,
  }
  const settings = Object.entries(environment).map(([key, value]) => `${key}=${value}`)
  const flags = ['--disable-warning=ExperimentalWarning', ...(engineFlags[role] ?? [])]
  return ['env', ...settings, process.execPath, ...flags, program]
}
