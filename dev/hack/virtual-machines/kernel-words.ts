import { readFile } from 'node:fs/promises'
import { architectures, type MachineArchitecture } from './architectures-table.ts'

/**
 * Returns the kernel's command line on an emulated processor, without what is of one machine. The emulator of x86_64
 * counts the host's cycles; a kernel that measures how many there are in a second while others use the host is wrong, and
 * its clock runs fast or slow from then on, so it is given their number where the host knows it.
 */
export async function kernelWords(architecture: MachineArchitecture = 'x64'): Promise<string> {
  const { console } = architectures[architecture]
  const words = `console=${console} quiet net.ifnames=0 mitigations=off nokaslr panic=5`
  if (architecture !== 'x64') return words
  const text = await readFile('/proc/cpuinfo', 'utf8')
  // Without a hypervisor below, this is the speed of the moment, and not that of the counter.
  const [, megahertz] = /^cpu MHz\s*:\s*([\d.]+)/m.exec(text) ?? []
  const counted = `${words} tsc=reliable`
  if (megahertz === undefined || !/^flags\s*:.*\bhypervisor\b/m.test(text)) return counted
  return `${counted} tsc_early_khz=${Math.round(Number(megahertz) * 1_000)}`
}
