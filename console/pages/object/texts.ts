import { inBoth } from '../../words/language.ts'

export const texts = inBoth({
  en: {
    hub: 'Hub',
    tabs: { yaml: 'YAML', logs: 'Logs', shell: 'Shell' },
  },
  zh: {
    hub: '中心',
    tabs: { yaml: 'YAML', logs: '日志', shell: '终端' },
  },
})
