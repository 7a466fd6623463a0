// node compile_ksy.js LANGUAGE FOLDER FILE...: compiles descriptions, given as JSON, into FOLDER.
const fs = require("fs");
const path = require("path");
const compiler = require("kaitai-struct-compiler");

async function main(language, folder, files) {
    for (const file of files) {
        const made = await compiler.compile(language, JSON.parse(fs.readFileSync(file)), null, false);
        for (const name in made)
            fs.writeFileSync(path.join(folder, name), made[name]);
    }
}

main(process.argv[2], process.argv[3], process.argv.slice(4)).catch(error => {
    console.error(String(error.message || error));
    process.exit(1);
});
