// Generates tokens with a language model, the most likely ones, by node-llama-cpp.
//
//	node chat.mjs MODEL [--cpu] [--tokens N] [--save FILE] [--check FILE]
//
// --cpu computes without a GPU; --save writes the tokens and the logits of every step;
// --check follows the tokens of such a file and compares the logits.
import fs from "node:fs";
import { parseArgs } from "node:util";
import { getLlama, LlamaLogLevel } from "node-llama-cpp";

const { values: flags, positionals: [modelPath] } = parseArgs({
	allowPositionals: true,
	options: { cpu: { type: "boolean" }, tokens: { type: "string", default: "32" }, save: { type: "string" }, check: { type: "string" } },
});
if (!modelPath) {
	console.error("usage: node chat.mjs MODEL [--cpu] [--tokens N] [--save FILE] [--check FILE]");
	process.exit(2);
}

// What llama.cpp's own tests allow for one product: the CPU rounds the argument to 8 bits 256
// numbers at a time, the GPU 32 at a time.
const bound = 5e-4;

// With gpu: "cuda" the client does not look for drivers, with build: "never" not for
// compilers. Of a model this small, more threads spend their time waiting for each other.
const llama = await getLlama({ gpu: flags.cpu ? false : "cuda", build: "never", maxThreads: 1, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath, gpuLayers: flags.cpu ? 0 : "max" });
const context = await model.createContext({ contextSize: 128, batchSize: 32 });
const sequence = context.getSequence();

const prompt = model.tokenize("the shuttle and the thread");
const follow = flags.check ? JSON.parse(fs.readFileSync(flags.check)) : [];
let input = [model.tokens.bos, ...prompt];
const steps = [], output = [];
let worst = 0, same = 0;
for (let i = 0; i < Number(flags.tokens); i++) {
	const last = input.length - 1;
	input[last] = [input[last], { generateNext: { logits: true, token: true, options: { temperature: 0 } } }];
	const { next } = (await sequence.controlledEvaluate(input))[last];
	const logits = [...next.logits].sort((a, b) => a[0] - b[0]).map(([, value]) => value);
	let token = logits.indexOf(Math.max(...logits));
	steps.push({ token, logits });
	if (follow[i]) {
		let error = 0, size = 0;
		follow[i].logits.forEach((v, k) => { error += (v - logits[k]) ** 2; size += v ** 2; });
		worst = Math.max(worst, error / size);
		same += token === follow[i].token;
		token = follow[i].token;
	}
	output.push(token);
	input = [token];
}
console.log(model.detokenize([...prompt, ...output]));
if (flags.save) fs.writeFileSync(flags.save, JSON.stringify(steps));
await llama.dispose();
if (flags.check) {
	console.log(`${same} of ${output.length} tokens are the same; normalised mean squared error of the logits: at most ${worst.toExponential(1)}`);
	process.exitCode = worst <= bound ? 0 : 1;
}
