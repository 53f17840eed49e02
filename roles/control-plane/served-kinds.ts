import { builtinKinds, parseSwitches } from '@skerry/kinds'
import type { Kind } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'

/** The options of every control plane for the built-in kinds that it serves. */
export interface KindFlags {
  runtimeConfig?: string | undefined
  featureGates?: string | undefined
}

/** The built-in kinds that the flags ask for. Throws ExpectedError for what they cannot ask. */
export async function servedKinds(flags: KindFlags): Promise<readonly Kind[]> {
  const { runtimeConfig, featureGates } = flags
  if (runtimeConfig === undefined && featureGates === undefined) return builtinKinds()
  try {
    return await builtinKinds({
      switches: {
        runtimeConfig: parseSwitches(runtimeConfig ?? ''),
        featureGates: parseSwitches(featureGates ?? ''),
      },
    })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ExpectedError(error.message, exitCodes.usage, { cause: error })
  }
}
