import type { MachineState } from '../data/edge/machine-results.ts'
import { inBoth } from '../words/language.ts'
import type { Tone } from './state-mark.tsx'

export const machineTones: Readonly<Record<MachineState, Tone>> = Object.freeze({
  Failed: 'bad',
  Waiting: 'warn',
  Retrying: 'warn',
  Running: 'busy',
  Pending: 'off',
  Cancelled: 'off',
  Done: 'ok',
})

export const machineTexts = inBoth({
  en: {
    states: {
      Failed: 'Failed',
      Waiting: 'Waiting for you',
      Retrying: 'Trying again',
      Running: 'Running',
      Pending: 'Pending',
      Cancelled: 'Cancelled',
      Done: 'Done',
    },
    roles: { Master: 'Master', Node: 'Node', Witness: 'Witness' },
    acceptKey: 'Accept this key',
    unknownKey:
      'It presents a key that nobody has accepted. Compare it with the one on the machine:',
  },
  zh: {
    states: {
      Failed: '失败',
      Waiting: '等待您处理',
      Retrying: '重试中',
      Running: '运行中',
      Pending: '等待中',
      Cancelled: '已取消',
      Done: '完成',
    },
    roles: { Master: '主节点', Node: '节点', Witness: '见证' },
    acceptKey: '接受此密钥',
    unknownKey: '机器出示了尚未接受的密钥。请与机器上的密钥比对：',
  },
})
