// The guided tour: a session in a small sample folder with a scripted model, so that Tau can be seen working with no model at all.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import en from '../../../resources/tour/en.script?raw'
import zh from '../../../resources/tour/zh.script?raw'

export type TourLanguage = 'en' | 'zh'

/** Scripts that the scripted provider knows by name. */
export const tourScripts: Readonly<Record<string, string>> = { 'tour-en': en, 'tour-zh': zh }

const samples: Readonly<Record<TourLanguage, { title: string; notes: string }>> = {
  en: { title: 'Guided tour', notes: 'Shopping\n- bread\n- tea\n\nIdeas\n- write a letter\n' },
  zh: { title: '导览', notes: '购物\n- 面包\n- 茶\n\n想法\n- 写一封信\n' }
}

/** Makes a fresh sample folder below `home` and says what the tour's session needs. */
export async function prepareTour(home: string, language: TourLanguage): Promise<{ title: string; workspace: string; model: string }> {
  const workspace = join(home, 'tour', new Date().toISOString().replaceAll(/[:.]/g, '-'))
  const { title, notes } = samples[language]
  await mkdir(join(workspace, 'drafts'), { recursive: true })
  await writeFile(join(workspace, 'notes.txt'), notes)
  await writeFile(join(workspace, 'drafts', 'letter.md'), '# …\n')
  return { title, workspace, model: `scripted:tour-${language}` }
}
