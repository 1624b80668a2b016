// What the writers and checks of the campaign share: promises, and the two roles of a program.
import { readFileSync, writeSync } from 'node:fs'

export const promise = text => writeSync(Number(process.env.FLASHLAB_ACK_FD), `${text}\n`)
export const promised = () => readFileSync(process.env.FLASHLAB_ACKS, 'utf8').split('\n').filter(line => line)
export const need = (holds, what) => {
  if (holds) return
  console.log(what)
  if (process.argv[2] !== 'ask') process.exit(1) // it prints what is there and what is not, and judges nothing
}
export const run = async roles => roles[process.argv[2].replace('ask', 'check')]()
